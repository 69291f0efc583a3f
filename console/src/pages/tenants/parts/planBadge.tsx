import { tenants as texts } from '../../../texts/tenants.ts';
import { Badge, type Tone } from '../../../ui/badge.tsx';

export type Plan = keyof typeof texts.plan.names;

const TONES: Readonly<Record<Plan, Tone>> = { free: 'neutral', paid: 'accent', enterprise: 'good' };

/** The plan of a tenant. */
export function PlanBadge({ plan }: { plan: Plan }) {
  return <Badge tone={TONES[plan]}>{texts.plan.names[plan]}</Badge>;
}
