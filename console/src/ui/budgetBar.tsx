import { budgets as texts } from '../texts/budgets.ts';
import { nearnessOf, wholePercent, type Budget, type Nearness } from './budget.ts';
import { Badge, type Tone } from './card.tsx';
import { classes } from './style.ts';

const TONES: Readonly<Record<Nearness, Tone>> = { full: 'bad', near: 'warn', within: 'good' };

/** How near to its limit a budget is, in a word. */
export function NearnessBadge({ budget }: { budget: Budget }) {
  const nearness = nearnessOf(budget);
  return <Badge tone={TONES[nearness]}>{texts.states[nearness]}</Badge>;
}

const FILLS: Readonly<Record<Nearness, string>> = { full: 'bg-bad', near: 'bg-chart-3', within: 'bg-accent' };

/** What is used and held of a limit, with a mark at the limit and at each alert level. */
export function BudgetBar({ budget }: { budget: Budget }) {
  const { limit_credits: limit, used_credits: used, held_credits: held, alert_at: levels } = budget;
  const whole = Math.max(1, limit, used + held, ...levels.map((level) => level * limit));
  const place = (credits: number): string => `${String((100 * credits) / whole)}%`;
  const fill = FILLS[nearnessOf(budget)];
  return (
    <div
      role="img"
      aria-label={texts.bar(wholePercent(budget), texts.stood(used, held, limit))}
      className="relative py-1.5"
    >
      <div className="flex h-3 overflow-hidden rounded-full bg-line">
        <div className={fill} style={{ width: place(limit === 0 ? whole : used) }} />
        <div className={classes(fill, 'opacity-50')} style={{ width: place(held) }} />
      </div>
      {levels.map((level) => (
        <div
          key={level}
          className="absolute inset-y-0 w-0.5 -translate-x-1/2 rounded bg-ink"
          style={{ left: place(level * limit) }}
        />
      ))}
    </div>
  );
}
