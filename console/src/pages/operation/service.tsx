import type { ServiceState } from '@quire/client';
import { operation as texts } from '../../texts/operation.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { Stat } from '../../ui/stat.tsx';
import { Credits } from '../../ui/values/numbers.tsx';

const TONES: Readonly<Record<string, Tone>> = { ok: 'good', live: 'good', degraded: 'warn', down: 'bad' };

/** A state as a word with its colour; what is not known to be well stands out. */
export function State({ state }: { state: string }) {
  return <Badge tone={TONES[state] ?? 'warn'}>{state.replaceAll('_', ' ')}</Badge>;
}

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

/** The two largest units of a duration. */
const durationOf = (seconds: number): string => {
  const whole = (size: number, of = seconds): string => String(Math.floor(of / size));
  if (seconds >= DAY) return `${whole(DAY)} d ${whole(HOUR, seconds % DAY)} h`;
  if (seconds >= HOUR) return `${whole(HOUR)} h ${whole(MINUTE, seconds % HOUR)} min`;
  return seconds >= MINUTE ? `${whole(MINUTE)} min` : `${String(seconds)} s`;
};

/** What one sees at once. */
export function Figures({ state }: { state: ServiceState }) {
  const { status, version, uptime_seconds, roles, log } = state;
  return (
    <div className="grid grid-cols-2 gap-3 xl:grid-cols-4">
      <Stat
        name={texts.health}
        value={<span className={status === 'ok' ? 'text-good' : 'text-warn'}>{texts.status[status]}</span>}
        say={state.draining ? texts.draining : undefined}
      />
      <Stat name={texts.version} value={version} say={texts.replica} />
      <Stat
        name={texts.uptime}
        value={durationOf(uptime_seconds)}
        say={`${texts.roles}: ${roles.join(', ')}`}
      />
      <Stat name={texts.end} value={<Credits value={log.end_position ?? '–'} />} say={texts.endSay} />
    </div>
  );
}

const wordOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(wordOf).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** Each part with its state and what it says of itself. */
export function Parts({ parts }: Pick<ServiceState, 'parts'>) {
  return (
    <Card title={texts.parts}>
      <ul className="flex flex-col divide-y divide-line/60">
        {Object.entries(parts).map(([name, { status, ...said }]) => (
          <li key={name} className="flex flex-wrap items-baseline gap-x-3 gap-y-1 py-2">
            <span className="w-32 font-medium">{name.replaceAll('_', ' ')}</span>
            <State state={wordOf(status)} />
            <span className="min-w-0 basis-40 grow text-[13px] wrap-anywhere text-soft">
              {Object.entries(said)
                .filter(([, value]) => value !== null)
                .map(([member, value]) => `${member.replaceAll('_', ' ')} ${wordOf(value)}`)
                .join(' · ')}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
