import { ArrowRight } from '../../../ui/icons/icons.tsx';
import type { ReactNode } from 'react';
import { tenants as texts } from '../../../texts/tenants.ts';
import { Credits } from '../../../ui/values/numbers.tsx';

/** One line of an effect. */
export function EffectLine({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex flex-wrap justify-between gap-x-4">
      <dt className="text-soft">{name}</dt>
      <dd className="ml-auto text-right font-medium">{children}</dd>
    </div>
  );
}

/** What is now, and what it becomes. */
export function Becomes({ now, then }: { now: ReactNode; then: ReactNode }) {
  return (
    <span className="inline-flex items-center gap-2">
      <span className="font-normal">{now}</span>
      <ArrowRight aria-label={texts.effect.becomes} role="img" className="size-3.5 text-soft" />
      <span>{then}</span>
    </span>
  );
}

/** The balance before and after. */
export function BalanceLine({ now, change }: { now: number; change: number }) {
  const then = now + change;
  return (
    <EffectLine name={texts.effect.balance}>
      <Becomes
        now={<Credits value={now} />}
        then={
          <span className={then < 0 ? 'text-bad' : undefined}>
            <Credits value={then} unit={texts.stats.credits} />
          </span>
        }
      />
    </EffectLine>
  );
}

/** What a form will do, before it is sent; without lines it says that the form is not filled in. */
export function Effect({ children }: { children?: ReactNode }) {
  return (
    <section
      aria-label={texts.effect.title}
      aria-live="polite"
      className="rounded-lg border border-line bg-sunken p-3"
    >
      <h3 className="mb-1 text-[13px] font-medium text-soft">{texts.effect.title}</h3>
      {children === undefined ? (
        <p className="text-soft">{texts.effect.none}</p>
      ) : (
        <dl className="flex flex-col gap-1">{children}</dl>
      )}
    </section>
  );
}
