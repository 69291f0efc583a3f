"""What both clients are held to; `_sync` is made by `npm run generate`."""
