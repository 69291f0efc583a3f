import { fuzzDocuments } from './documents.ts';

const well = process.argv.includes('--requests')
  ? await (await import('./requests.ts')).fuzzRequests()
  : await fuzzDocuments();
process.exitCode = well ? 0 : 1;
