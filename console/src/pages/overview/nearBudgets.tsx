import type { Api } from '@quire/client';
import { useRead } from '../../api/connection.ts';
import { useTenantId } from '../../api/session.ts';
import { budgets as words } from '../../texts/budgets.ts';
import { overview } from '../../texts/overview.ts';
import { scopeWords, wholePercent } from '../../ui/budget.ts';
import { Badge, Card } from '../../ui/card.tsx';
import { Go } from '../../ui/go.tsx';
import { Time } from '../../ui/values.tsx';

const texts = overview.budgets;

type NearBudget = NonNullable<Awaited<ReturnType<Api['getTenantInfo']>>['budgets']>['items'][number];

function NearLine(budget: NearBudget) {
  const { name, standing, on_reached, left_credits: left, resets_at, expected_end_at_7_days: end } = budget;
  const isReached = standing === 'reached';
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1.5">
      <Badge tone={isReached ? 'bad' : 'warn'}>{words.states[isReached ? 'full' : 'near']}</Badge>
      <Go to="/budgets" className="font-medium break-words hover:underline">
        <bdi>{name ?? words.erased}</bdi>
      </Go>
      <span className="break-words text-soft">{scopeWords(budget, new Map())}</span>
      <span>{wholePercent(budget)}</span>
      <span className="text-soft">{texts.left(left)}</span>
      {isReached && on_reached === 'refuse' && <span className="text-bad">{texts.refuses}</span>}
      {!isReached && end !== null && (
        <span className="text-soft">
          {words.usedUp} <Time at={end} />
        </span>
      )}
      {resets_at !== null && (
        <span className="text-soft sm:ml-auto">
          {words.resets} <Time at={resets_at} />
        </span>
      )}
    </li>
  );
}

const SHOWN = 5;

/** Budgets that hold work, or soon will; nothing where there are none. */
export function NearBudgets() {
  const tenant_id = useTenantId();
  const { data } = useRead('getTenantInfo', { path: { tenant_id } });
  const near = data?.budgets;
  if (near == null || near.items.length === 0) return null;
  const shown = near.items.slice(0, SHOWN);
  const more = near.reached + near.near - shown.length;
  return (
    <Card title={texts.title}>
      <ul className="flex flex-col divide-y divide-line/60">
        {shown.map((budget) => (
          <NearLine key={budget.budget_id} {...budget} />
        ))}
        {more > 0 && (
          <li className="py-1.5">
            <Go to="/budgets">{texts.more(more)}</Go>
          </li>
        )}
      </ul>
    </Card>
  );
}
