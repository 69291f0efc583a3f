import type { AuditedEvent, AuditedEventOf } from './auditedEvent.ts';
import { wrong } from './findings.ts';
import type { Books } from './rules.ts';

type Consent = AuditedEventOf<'TopUpSet'>['data'];

const SETTINGS = [
  'active',
  'threshold_credits',
  'credits',
  'currency',
  'monthly_credits_max',
  'payer',
  'payment_method',
  'consented_at',
] as const;

/** What only those set who answer for the payer; undefined: this is none of it. */
const reserved = (before: Consent | undefined, now: Consent): string | undefined => {
  if (before === undefined) return 'It is the first consent of the tenant';
  if (now.payer !== before.payer) return 'It names another payer';
  if (now.payment_method !== before.payment_method) return 'It names another way to pay';
  return now.active && !before.active ? 'It gives a consent again that was taken back' : undefined;
};

/** Consents to top-ups: given by those who answer for the payer, and changed by each setting. */
export const topUpsCheck = ({ findings }: Pick<Books, 'findings'>) => {
  const consents = new Map<string, Consent>();
  return (event: AuditedEvent): void => {
    if (event.type !== 'TopUpSet') return;
    findings.checked('consent');
    const say = wrong(findings, 'consent', event);
    const { data } = event;
    const before = consents.get(event.stream);
    consents.set(event.stream, data);
    const { role, key_id } = event.metadata['actor'] as {
      readonly role?: unknown;
      readonly key_id?: unknown;
    };
    const what = role === 'admin' ? undefined : reserved(before, data);
    if (what !== undefined) say(`${what}, and no admin set it.`, 'admin', String(role));
    if (data.updated_by !== key_id) say('Another set it than it says.', String(key_id), data.updated_by);
    if (data.credits > data.monthly_credits_max)
      say('It buys more at a time than in a month.', `at most ${data.monthly_credits_max}`, data.credits);
    if (before !== undefined && SETTINGS.every((name) => before[name] === data[name]))
      say('It says what was set already.');
  };
};
