import type { Config } from '../../config.ts';

/** What doctor was asked, and the environment that it looks at. */
export interface Doctor {
  readonly config: Config;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly deep: boolean;
  readonly nowMs: () => number;
}
