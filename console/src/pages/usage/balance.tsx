import type { Api } from '@quire/client';
import { usage as texts } from '../../texts/usage.ts';
import { Badge } from '../../ui/badge.tsx';
import { Stat } from '../../ui/stat.tsx';
import { Credits } from '../../ui/values/numbers.tsx';
import type { LowLine } from './useLowLine.ts';

type TenantInfo = Awaited<ReturnType<Api['getTenantInfo']>>;

const { stats, low } = texts;
const grouped = (value: number): string => value.toLocaleString('en').replace('-', '−');

/** Says that the balance is low, or from where on it will be said. */
function LowBalance({ info, line }: { info: TenantInfo; line: LowLine }) {
  const isLow = info.available_credits <= 0 || info.available_credits < line.credits;
  if (isLow)
    return (
      <p role="status" className="rounded-lg bg-warn-soft p-3 text-warn">
        {info.available_credits <= 0 ? low.none : low.under(grouped(line.credits))}
      </p>
    );
  if (!line.isKnown) return null;
  return (
    <p className="text-[13px] text-soft">{line.isTold ? low.line(grouped(line.credits)) : low.noLine}</p>
  );
}

/** What is left, what is set aside, and whether it is little. */
export function Balance({ info, line }: { info: TenantInfo; line: LowLine }) {
  const { free_pages } = info;
  return (
    <div className="flex flex-col gap-3">
      <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
        <Stat
          name={stats.available}
          value={<Credits value={info.available_credits} />}
          say={stats.availableSay}
        />
        <Stat
          name={stats.balance}
          value={<Credits value={info.balance_credits} />}
          say={stats.balanceSay(grouped(info.total_credits_purchased), grouped(info.total_credits_used))}
        />
        <Stat name={stats.held} value={<Credits value={info.held_credits} />} say={stats.heldSay} />
        <Stat
          name={stats.free}
          value={<Credits value={info.free_pages_remaining} />}
          say={
            <>
              {stats.freeSay(grouped(free_pages.used), grouped(free_pages.allowance))}{' '}
              <Badge tone="accent">{info.plan}</Badge>
            </>
          }
        />
      </div>
      <LowBalance info={info} line={line} />
    </div>
  );
}
