import { useMemo, useState } from 'react';
import { useRead } from '../api/connection.ts';
import { faultOf } from '../api/faults.ts';
import { useTenantId } from '../api/session.ts';
import { budgets as texts } from '../texts/budgets.ts';
import { shell } from '../texts/shell.ts';
import {
  nearestFirst,
  nearnessOf,
  scopeWords,
  wholePercent,
  type Budget,
  type KeyNames,
  type Nearness,
} from '../ui/budget.ts';
import { ChangeBudget, EndBudget, MakeBudget } from '../ui/budgetForm.tsx';
import { Button } from '../ui/button.tsx';
import { Badge, PageHeader, Stat, type Tone } from '../ui/card.tsx';
import { ForTenant } from '../ui/forTenant.tsx';
import { Plus } from '../ui/icons/icons.tsx';
import { useKeyNames } from '../ui/names.tsx';
import { Empty, ProblemNote, Skeleton } from '../ui/states.tsx';
import { CONTROL, classes } from '../ui/style.ts';
import { Credits, Time } from '../ui/values.tsx';

const TONES: Readonly<Record<Nearness, Tone>> = { full: 'bad', near: 'warn', within: 'good' };

/** How near to its limit a budget is, in a word. */
function NearnessBadge({ budget }: { budget: Budget }) {
  const nearness = nearnessOf(budget);
  return <Badge tone={TONES[nearness]}>{texts.states[nearness]}</Badge>;
}

const FILLS: Readonly<Record<Nearness, string>> = { full: 'bg-bad', near: 'bg-chart-3', within: 'bg-accent' };

/** What is used and held of a limit, with a mark at the limit and at each alert level. */
function BudgetBar({ budget }: { budget: Budget }) {
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

type Doing = { readonly what: 'make' } | { readonly what: 'change' | 'end'; readonly budget: Budget };

interface OneProps {
  readonly budget: Budget;
  readonly keys: KeyNames;
}

type Refusal = Budget['refusals'][number];

/** Who asked for work that was refused. */
const askedBy = ({ api_key_id, project_id, task_id }: Refusal, keys: KeyNames): string =>
  [
    api_key_id === null ? undefined : texts.refusals.key(keys.get(api_key_id) ?? api_key_id),
    project_id === null ? undefined : texts.refusals.project(project_id),
    task_id === null ? undefined : texts.refusals.task(task_id),
  ]
    .filter((part) => part !== undefined)
    .join(', ');

/** The latest work that did not fit, and how the budget stood then. */
function Refusals({ budget, keys }: OneProps) {
  const { refusals } = budget;
  const { title, why } = texts.refusals;
  if (refusals.length === 0) return null;
  return (
    <details>
      <summary className="cursor-pointer text-bad">{title(refusals.length)}</summary>
      <ul className="mt-1 flex flex-col divide-y divide-line/60">
        {refusals.map((one) => {
          const { limit_credits: limit, used_credits: used, held_credits: held } = one;
          return (
            <li key={`${one.operation_id} ${one.refused_at}`} className="py-1.5">
              <p>{why(one.required_credits, limit - used - held, texts.stood(used, held, limit))}</p>
              <p className="text-[13px] break-words text-soft">
                <Time at={one.refused_at} />
                {`, ${askedBy(one, keys)}`}
              </p>
            </li>
          );
        })}
      </ul>
    </details>
  );
}

/** Used, held and left, in credits. */
function Figures({ budget }: { budget: Budget }) {
  const { used_credits: used, held_credits: held, left_credits: left, limit_credits: limit } = budget;
  const parts = [
    { name: texts.used, value: used },
    { name: texts.held, value: held },
    { name: left < 0 ? texts.over : texts.left, value: Math.abs(left) },
  ];
  return (
    <p className="flex flex-wrap gap-x-4 gap-y-1">
      <span className="font-semibold">{wholePercent(budget)}</span>
      {parts.map(({ name, value }) => (
        <span key={name}>
          <Credits value={value} unit={name} />
        </span>
      ))}
      <span className="text-soft">{texts.of(limit)}</span>
    </p>
  );
}

/** Alert levels, each with whether it was sent in this period. */
function Levels({ alert_at, alerted }: Budget) {
  if (alert_at.length === 0) return <span>{texts.noAlerts}</span>;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-1.5">
      {texts.alerts}
      {alert_at.map((level) =>
        alerted.includes(level) ? (
          <Badge key={level} tone="warn">
            <span title={texts.told}>{texts.percent(level)}</span>
            <span className="sr-only">{`, ${texts.told}`}</span>
          </Badge>
        ) : (
          <span key={level}>{texts.percent(level)}</span>
        ),
      )}
    </span>
  );
}

/** Period, reset, alerts, and what holds for all work in the same period. */
function Terms({ budget }: { budget: Budget }) {
  const { period, time_zone, resets_at, parent, expected_end_at_7_days: end } = budget;
  return (
    <div className="flex flex-col gap-1 text-[13px] text-soft">
      <p className="flex flex-wrap gap-x-4 gap-y-1">
        <span>{texts.in(period, time_zone)}</span>
        {resets_at === null ? (
          period !== 'total' && <span>{texts.never}</span>
        ) : (
          <span>
            {texts.resets} <Time at={resets_at} />
          </span>
        )}
        {end !== null && (
          <span>
            {texts.usedUp} <Time at={end} />
          </span>
        )}
        <Levels {...budget} />
      </p>
      {parent !== null && <p>{texts.parent(parent.limit_credits)}</p>}
    </div>
  );
}

function BudgetCard({ budget, keys, onDo }: OneProps & { onDo: (doing: Doing) => void }) {
  const name = budget.name ?? texts.erased;
  return (
    <li className="flex min-w-0 flex-col gap-2 rounded-lg border border-line bg-surface p-4">
      <div className="flex flex-wrap items-start justify-between gap-2">
        <div className="min-w-0">
          <h2 className="font-semibold break-words">
            <bdi>{name}</bdi>
          </h2>
          <p className="break-words text-soft">{scopeWords(budget, keys)}</p>
        </div>
        <div className="flex flex-wrap items-center gap-2">
          <NearnessBadge budget={budget} />
          <Badge>{texts.reached[budget.on_reached]}</Badge>
          <span className="flex">
            {(['change', 'end'] as const).map((what) => (
              <Button
                key={what}
                size="small"
                look="quiet"
                aria-label={`${texts[what].open}: ${name}`}
                onClick={() => onDo({ what, budget })}
              >
                {texts[what].open}
              </Button>
            ))}
          </span>
        </div>
      </div>
      <BudgetBar budget={budget} />
      <Figures budget={budget} />
      <Terms budget={budget} />
      <Refusals budget={budget} keys={keys} />
    </li>
  );
}

/** How many are used up, nearly so, and neither. */
function Counts({ items }: { items: readonly Budget[] }) {
  const { stats } = texts;
  const count = (nearness: 'full' | 'near' | 'within') => (
    <Credits value={items.filter((one) => nearnessOf(one) === nearness).length} />
  );
  return (
    <div className="grid grid-cols-3 gap-2 sm:gap-3">
      <Stat name={stats.full} value={count('full')} say={stats.fullSay} />
      <Stat name={stats.near} value={count('near')} say={stats.nearSay} />
      <Stat name={stats.within} value={count('within')} say={stats.withinSay} />
    </div>
  );
}

/** So many are seen at a glance: there is nothing to find among them. */
const FEW = 3;
/** Budgets that are drawn at a time: a tenant may have 500. */
const AT_A_TIME = 50;

interface ListedProps {
  readonly items: readonly Budget[];
  readonly keys: KeyNames;
  readonly onDo: (doing: Doing) => void;
}

/** The budgets, the most used first, and those among them that one looks for. */
function Listed({ items, keys, onDo }: ListedProps) {
  const [text, type] = useState('');
  const [most, showMost] = useState(AT_A_TIME);
  const sorted = useMemo(() => nearestFirst(items), [items]);
  const wanted = text.trim().toLowerCase();
  const found = sorted.filter((one) =>
    `${one.name ?? ''} ${scopeWords(one, keys)}`.toLowerCase().includes(wanted),
  );
  return (
    <>
      {items.length > FEW && (
        <div className="flex flex-wrap items-center gap-2">
          <input
            aria-label={texts.find}
            placeholder={texts.find}
            value={text}
            onChange={({ target }) => type(target.value)}
            className={`${CONTROL} max-w-60`}
          />
          <span className="ml-auto text-[13px] text-soft">{texts.shown(found.length, items.length)}</span>
        </div>
      )}
      {found.length === 0 && <p className="text-soft">{texts.noneFound}</p>}
      <ul aria-label={texts.list} className="flex flex-col gap-3">
        {found.slice(0, most).map((budget) => (
          <BudgetCard key={budget.budget_id} budget={budget} keys={keys} onDo={onDo} />
        ))}
      </ul>
      {found.length > most && (
        <Button className="self-center" onClick={() => showMost(most + AT_A_TIME)}>
          {shell.more}
        </Button>
      )}
    </>
  );
}

function Doings({ doing, onClose }: { doing: Doing; onClose: () => void }) {
  if (doing.what === 'make') return <MakeBudget onClose={onClose} />;
  if (doing.what === 'change') return <ChangeBudget budget={doing.budget} onClose={onClose} />;
  return <EndBudget budget={doing.budget} onClose={onClose} />;
}

/** Work goes on while one looks: what is used is read again after so many milliseconds. */
const AGAIN_MS = 30_000;

function OfTenant() {
  const tenant_id = useTenantId();
  const { data, error, refetch } = useRead(
    'listBudgets',
    { path: { tenant_id } },
    { refetchInterval: AGAIN_MS },
  );
  const keys = useKeyNames(tenant_id);
  const [doing, onDo] = useState<Doing>();
  if (error !== null && faultOf(error).code === 'tenant_not_found')
    return <Empty title={texts.newTenant.title} say={texts.newTenant.say} />;
  if (data === undefined && error === null) return <Skeleton lines={4} className="h-24" />;
  const open = (
    <Button look="primary" className="self-start" onClick={() => onDo({ what: 'make' })}>
      <Plus aria-hidden className="size-4" />
      {texts.make.open}
    </Button>
  );
  return (
    <div className="flex flex-col gap-4">
      <ProblemNote error={error} onRetry={() => void refetch()} />
      {data?.budgets.length === 0 && (
        <Empty title={texts.empty.title} say={texts.empty.say}>
          {open}
        </Empty>
      )}
      {data !== undefined && data.budgets.length > 0 && (
        <>
          <Counts items={data.budgets} />
          {open}
          <Listed items={data.budgets} keys={keys} onDo={onDo} />
        </>
      )}
      {doing !== undefined && <Doings doing={doing} onClose={() => onDo(undefined)} />}
    </div>
  );
}

/** Budgets: what is used of each, made, changed, ended. */
export default function BudgetsPage() {
  return (
    <>
      <PageHeader title={texts.title} say={texts.say} />
      <ForTenant>
        <OfTenant />
      </ForTenant>
    </>
  );
}
