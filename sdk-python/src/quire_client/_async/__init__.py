"""The blocking half of the client is made of the asynchronous one by `npm run generate`."""
