import { fuzzDocuments } from './documents.ts';

const asked = (what: string): boolean => process.argv.includes(what);

const fuzzed = async (): Promise<boolean> => {
  if (asked('--requests')) return (await import('./requests.ts')).fuzzRequests();
  return asked('--schemas') ? (await import('./schemas.ts')).fuzzSchemas() : fuzzDocuments();
};

process.exitCode = (await fuzzed()) ? 0 : 1;
