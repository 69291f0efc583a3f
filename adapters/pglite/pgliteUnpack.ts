import { unpackDatabase } from './folder.ts';

// A process of its own: the memory that unpacking takes is given back with it.
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('pgliteUnpack takes the folder to make');
await unpackDatabase(folder);
