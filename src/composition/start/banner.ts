import { protectionText, type ProtectionFacts } from '../../doctor/parts.ts';
import type { Parts } from '../parts/openParts.ts';

interface Started {
  readonly url: string;
  readonly isApi: boolean;
  /** The first admin key, where it was made just now. */
  readonly key: string | undefined;
  /** Signs its holder in to the console once, where the key was made. */
  readonly link: string | undefined;
  readonly protection: ProtectionFacts;
}

const whereOf = ({ url, isApi }: Started): readonly string[] =>
  isApi
    ? [`Quire listens on ${url}`, `  reference     ${url}/docs`, `  console       ${url}/`]
    : ['Quire runs without an API', `  health        ${url}/health, with /metrics beside it`];

/** What a start prints: where it listens, and what each part is. */
export const banner = (parts: Parts, started: Started): string => {
  const { key, link, protection } = started;
  const { event_log, read_models, objects, limits } = parts.names;
  const lines = [
    '',
    ...whereOf(started),
    `  event log     ${event_log}`,
    `  read models   ${read_models}`,
    `  objects       ${objects}`,
    `  rate limits   ${limits}`,
    `  parsers       ${protectionText(protection)}`,
  ];
  if (parts.recreated !== null)
    lines.push(`  read models are being rebuilt from the event log: ${parts.recreated}`);
  if (key !== undefined)
    lines.push(
      '',
      `  admin key     ${key}`,
      '                shown this once: keep it, it cannot be shown again',
    );
  if (link !== undefined)
    lines.push('', `  sign in       ${link}`, '                works once, for 15 minutes');
  return `${lines.join('\n')}\n`;
};
