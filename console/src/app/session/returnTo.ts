const KEY = 'quire.returnTo';

/** Only addresses of the console itself. */
const isOwn = (path: unknown): path is string => typeof path === 'string' && /^\/[a-z]/.test(path);

/** Where signing in leads: what is asked for, else what was before the way to the provider, else the first page. */
export const goalOf = (asked: unknown): string =>
  isOwn(asked) ? asked : (sessionStorage.getItem(KEY) ?? '/playground');

/** Keeps the goal over the way to the provider and back. */
export const keepGoal = (goal: string): void => sessionStorage.setItem(KEY, goal);

export const forgetGoal = (): void => sessionStorage.removeItem(KEY);
