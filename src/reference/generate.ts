import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { referenceDocuments } from './documents.ts';

for (const [path, text] of Object.entries(referenceDocuments())) {
  await writeFile(resolve(path), text);
  console.log(`wrote ${path}`);
}
