import { insideOf } from './inside/insideOf.ts';

const OUTLINES = '/Outlines';
/** As long, and no name of the format. */
const HIDDEN = '/0utlines';

/**
 * A file as the parser may read it. It follows bookmarks without a bound, though nobody asks it for them: those that
 * lead back to themselves keep it busy for ever, and those that lie deep in each other end its process. So they are
 * hidden from it, unless they are known to be a tree; they are read here (`outlineOf`). Names in packed objects stay.
 */
export function withSoundOutline(bytes: Buffer): Buffer {
  let at = bytes.indexOf(OUTLINES);
  if (at < 0 || insideOf(bytes)?.outline.isSound === true) return bytes;
  const hidden = Buffer.from(bytes);
  for (; at >= 0; at = hidden.indexOf(OUTLINES, at)) hidden.write(HIDDEN, at, 'latin1');
  return hidden;
}
