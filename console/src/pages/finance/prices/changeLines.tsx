import { finance as texts } from '../../../texts/finance.ts';
import { Badge, type Tone } from '../../../ui/badge.tsx';
import type { Change, State } from './entries.ts';

const TONES: Readonly<Record<State, Tone>> = {
  added: 'good',
  removed: 'bad',
  changed: 'warn',
  same: 'neutral',
};

/** Where what was is crossed out. */
const GONE: readonly State[] = ['changed', 'removed'];

/** What changes against what is active, one line a currency. */
export function ChangeLines({ changes }: { changes: readonly Change[] }) {
  return (
    <table className="w-full text-left" aria-label={texts.prices.diff}>
      <thead className="text-[13px] text-soft">
        <tr>
          <th className="py-1 font-medium">{texts.prices.currency}</th>
          <th className="py-1 text-right font-medium">{texts.prices.now}</th>
          <th className="py-1 text-right font-medium">{texts.prices.then}</th>
          <th />
        </tr>
      </thead>
      <tbody>
        {changes.map(({ currency, state, now, then }) => (
          <tr key={currency} className="border-t border-line">
            <td className="py-1">{currency}</td>
            <td className={`py-1 text-right ${GONE.includes(state) ? 'text-soft line-through' : ''}`}>
              {now ?? '–'}
            </td>
            <td className="py-1 text-right font-medium">{then ?? '–'}</td>
            <td className="py-1 pl-3 text-right">
              <Badge tone={TONES[state]}>{texts.prices.states[state]}</Badge>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
