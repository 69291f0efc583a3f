import { QueryClient } from '@tanstack/react-query';

/** What was read from the service. Nothing is read again behind a person's back, but what was answered too early. */
export const cache = new QueryClient({
  defaultOptions: {
    queries: { retry: false, refetchOnWindowFocus: false, staleTime: 10_000 },
    mutations: { retry: false },
  },
});
