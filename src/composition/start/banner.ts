import { protectionText, type ProtectionFacts } from '../../doctor/protectionText.ts';
import type { Parts } from '../parts/openParts.ts';

interface Started {
  readonly url: string;
  readonly isApi: boolean;
  /** The first admin key, where it was made just now. */
  readonly key: string | undefined;
  readonly protection: ProtectionFacts;
}

const whereOf = ({ url, isApi }: Started): readonly string[] =>
  isApi
    ? [`Quire listens on ${url}`, `  reference     ${url}/docs`]
    : ['Quire runs without an API', `  health        ${url}/health, with /metrics beside it`];

/** What a start prints: where it listens, and what each part is. */
export const banner = (parts: Parts, started: Started): string => {
  const { key, protection } = started;
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
  return `${lines.join('\n')}\n`;
};
