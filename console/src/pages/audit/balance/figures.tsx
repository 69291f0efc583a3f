import { useQuery } from '@tanstack/react-query';
import type { BalanceAt } from '@quire/client';
import { audit } from '../../../texts/audit.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Stat } from '../../../ui/stat.tsx';
import { Credits } from '../../../ui/values/numbers.tsx';
import { Time } from '../../../ui/values/time.tsx';
import { wordsOf } from '../timeline/words.ts';
import { firstOf } from './moment.ts';

const texts = audit.balance;
const { figures: names } = texts;

interface FiguresProps {
  readonly balance: BalanceAt;
  readonly onShow: (event: Stood) => void;
}

type Stood = NonNullable<BalanceAt['event']>;

/** What happened at the moment, in words. */
function What({ stream, event }: { stream: string; event: Stood }) {
  const { data } = useQuery({
    queryKey: ['listEvents', 'one', stream, event.revision],
    queryFn: async ({ signal }) => {
      const before = BigInt(event.revision) - 1n;
      return (await firstOf({ stream, after: before < 0n ? undefined : String(before) }, signal)) ?? null;
    },
  });
  if (data === undefined || data === null || data.covered === null) return null;
  const { what, who, why } = wordsOf(data);
  return (
    <p className="mb-1">
      {what}
      {who !== undefined && (
        <span className="text-soft">
          {' '}
          {audit.list.by} {who}
        </span>
      )}
      {why !== undefined && <span className="text-soft"> · {why}</span>}
    </p>
  );
}

/** A balance, and the event that it stands on. */
export function Figures({ balance, onShow }: FiguresProps) {
  const { event } = balance;
  return (
    <>
      <div className="grid grid-cols-2 gap-4 lg:grid-cols-4">
        <Stat name={names.balance} value={<Credits value={balance.balance_credits} />} say={texts.credits} />
        <Stat name={names.held} value={<Credits value={balance.held_credits} />} say={texts.credits} />
        <Stat
          name={names.available}
          value={<Credits value={balance.available_credits} />}
          say={texts.credits}
        />
        <Stat name={names.plan} value={balance.plan} />
        <Stat name={names.purchased} value={<Credits value={balance.total_credits_purchased} />} />
        <Stat name={names.used} value={<Credits value={balance.total_credits_used} />} />
        <Stat name={names.adjusted} value={<Credits value={balance.total_credits_adjusted} />} />
        <Stat name={names.holds} value={<Credits value={balance.open_holds} />} />
        <Stat name={names.freePages} value={<Credits value={balance.free_pages_used} />} />
      </div>
      <Card title={texts.stands}>
        {event === null ? (
          <p className="text-soft">{texts.nothing}</p>
        ) : (
          <div className="flex flex-wrap items-center justify-between gap-2">
            <div className="min-w-0">
              <What stream={`account-${balance.tenant_id}`} event={event} />
              {event.type}, {audit.list.revision(event.revision)}, {audit.list.position(event.position)},{' '}
              <Time at={event.recorded_at} />
            </div>
            <Button size="small" onClick={() => onShow(event)}>
              {texts.show}
            </Button>
          </div>
        )}
      </Card>
    </>
  );
}
