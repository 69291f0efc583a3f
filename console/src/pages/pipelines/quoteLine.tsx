import { useRead } from '../../api/hooks.ts';
import { useTenantId } from '../../api/useSession.ts';
import { pipelines } from '../../texts/pipelines.ts';
import { Badge } from '../../ui/badge.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';

const startTexts = pipelines.start;

export type Tier = keyof typeof startTexts.tiers;

/** What the training that is being written down would cost. */
export function QuoteLine({ tier, examples }: { tier: Tier; examples: number }) {
  const tenant_id = useTenantId();
  const query = { tenant_id, optimizer_tier: tier, total_examples: Math.max(examples, 2) };
  const { data, error, refetch } = useRead('getTrainingQuote', { query });
  if (error !== null) return <ProblemNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return null;
  const { credits, available_credits, sufficient, plan_allows } = data;
  return (
    <p aria-live="polite" className="flex flex-wrap items-center gap-2">
      {startTexts.quote(credits.toLocaleString('en'), available_credits.toLocaleString('en'))}
      {!sufficient && <Badge tone="bad">{startTexts.short}</Badge>}
      {!plan_allows && <Badge tone="bad">{startTexts.plan}</Badge>}
    </p>
  );
}
