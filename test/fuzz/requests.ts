export const fuzzRequests = (): Promise<boolean> => Promise.resolve(true);
