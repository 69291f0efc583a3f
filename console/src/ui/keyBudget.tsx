import { useMemo, useState } from 'react';
import { useRead } from '../api/connection.ts';
import { useTenantId } from '../api/session.ts';
import { budgets as texts } from '../texts/budgets.ts';
import { nearestFirst, nearnessOf, type Budget, type Nearness } from './budget.ts';
import { ChangeBudget, MakeBudget } from './budgetForm.tsx';
import { Button } from './button.tsx';

const INKS: Readonly<Record<Nearness, string>> = { full: 'text-bad', near: 'text-warn', within: 'text-ink' };

interface KeyBudgetProps {
  readonly key_id: string;
  /** What people call the key. */
  readonly name: string;
  /** False: the key is over, and gets no budget any more. */
  readonly mayBeSet: boolean;
}

/** The budgets of a key, the most used first; undefined while they are read. */
const useBudgetsOf = (key_id: string) => {
  const tenant_id = useTenantId();
  const { data } = useRead('listBudgets', { path: { tenant_id } });
  return useMemo(
    () => data && nearestFirst(data.budgets.filter(({ scope }) => scope.key_id === key_id)),
    [data, key_id],
  );
};

/** What is used of the first of a key's budgets, and how many others it has. */
function Used({ budgets }: { budgets: readonly Budget[] }) {
  const { ofKey } = texts;
  const [nearest] = budgets;
  if (nearest === undefined) return ofKey.none;
  return (
    <>
      <span className={INKS[nearnessOf(nearest)]}>
        {ofKey.used(nearest.used_credits + nearest.held_credits, nearest.limit_credits)}
      </span>
      {budgets.length > 1 && <span className="text-soft">{ofKey.more(budgets.length - 1)}</span>}
    </>
  );
}

/** The most used budget of a key; a click changes it, or sets the first one. */
export function KeyBudget({ key_id, name, mayBeSet }: KeyBudgetProps) {
  const budgets = useBudgetsOf(key_id);
  const [isOpen, open] = useState(false);
  const { set, label } = texts.ofKey;
  const [nearest] = budgets ?? [];
  if (budgets === undefined || (nearest === undefined && !mayBeSet)) return null;
  const onClose = (): void => open(false);
  const isNew = nearest === undefined;
  return (
    // clicks in a dialog are none on the row
    <span onClick={(event) => event.stopPropagation()}>
      <Button
        size="small"
        look="quiet"
        aria-label={isNew ? set(name) : label(name)}
        onClick={() => open(true)}
      >
        <Used budgets={budgets} />
      </Button>
      {isOpen && !isNew && <ChangeBudget budget={nearest} onClose={onClose} />}
      {isOpen && isNew && <MakeBudget ofKey={{ key_id, name }} onClose={onClose} />}
    </span>
  );
}
