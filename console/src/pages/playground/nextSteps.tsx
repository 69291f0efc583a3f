import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { toast } from 'sonner';
import { z } from 'zod';
import { api, useBooking, useRead } from '../../api/connection.ts';
import { useActing, useTenantId } from '../../api/session.ts';
import { playground } from '../../texts/playground.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { creditsFor, minorOf } from '../../ui/decimal.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { JsonEditor } from '../../ui/editor.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { Go } from '../../ui/go.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { Copy } from '../../ui/values.tsx';
import { requestCode } from '../../document/requestCode.tsx';
import { isTemplate, readSchema } from '../../document/values.ts';

const { steps: texts } = playground;

interface StepProps {
  readonly step: { readonly say: string; readonly do: string };
  readonly isBusy?: boolean;
  readonly onDo: () => void;
}

function Step({ step, isBusy = false, onDo }: StepProps) {
  return (
    <div className="flex flex-col items-start gap-1">
      <Button isBusy={isBusy} onClick={onDo}>
        {step.do}
      </Button>
      <p className="text-[13px] text-soft">{step.say}</p>
    </div>
  );
}

/** Makes a key where the tenant has none, and shows it once, in the line that a program sends. */
function KeyStep({ name, schema }: { name: string; schema: string }) {
  const tenant_id = useTenantId();
  const cache = useQueryClient();
  const keys = useRead('listApiKeys', { path: { tenant_id }, query: { limit: 1 } });
  const [state, set] = useState<{ key?: string; error?: unknown; isBusy?: boolean }>({});
  const { key, error, isBusy } = state;
  const make = async (): Promise<void> => {
    set({ isBusy: true });
    try {
      // not by a mutation: its answer would stay in the cache, with the key
      set({ key: (await api.createApiKey({ body: { tenant_id, name: texts.key.name } })).key });
      await cache.invalidateQueries({ queryKey: ['listApiKeys'] });
    } catch (thrown) {
      set({ error: thrown });
    }
  };
  if (key === undefined)
    return keys.data?.total === 0 ? (
      <li className="flex flex-col gap-2">
        <Step step={texts.key} isBusy={isBusy === true} onDo={() => void make()} />
        <ProblemNote error={error} onRetry={() => void make()} />
      </li>
    ) : null;
  const line = requestCode('curl', { url: window.location.origin, name, schema });
  const text = line.replace('$QUIRE_API_KEY', key);
  return (
    <li className="col-span-full flex flex-col gap-2">
      <p className="text-warn">{texts.key.once}</p>
      <pre
        tabIndex={0}
        role="region"
        aria-label={texts.key.line}
        className="max-h-40 overflow-auto rounded bg-sunken p-3 font-mono text-[13px]"
      >
        {text}
      </pre>
      <div className="flex items-center justify-end gap-2">
        <Copy name={texts.key.copy} text={text} />
        <Button size="small" onClick={() => set({})}>
          {texts.key.stored}
        </Button>
      </div>
    </li>
  );
}

const ownKey = (tenantId: string): string => `quire.own-schema.${tenantId}`;

/** Takes a schema of one's own, until a document was read by one. */
function SchemaStep({ ran, onSchema }: { ran: string; onSchema: (text: string) => void }) {
  const tenantId = useTenantId();
  const [isOpen, open] = useState(false);
  const [text, write] = useState('');
  const isOwn = !isTemplate(ran) || localStorage.getItem(ownKey(tenantId)) !== null;
  useEffect(() => {
    if (isOwn) localStorage.setItem(ownKey(tenantId), 'read');
  }, [isOwn, tenantId]);
  const { schema, fault } = readSchema(text);
  if (isOwn) return null;
  return (
    <li>
      <Step step={texts.schema} onDo={() => open(true)} />
      <Dialog isOpen={isOpen} onOpenChange={open} title={texts.schema.title} say={texts.schema.dialog} isWide>
        <JsonEditor label={texts.schema.text} value={text} onChange={write} />
        {text !== '' && fault !== undefined && (
          <p role="alert" className="text-bad">
            {fault}
          </p>
        )}
        <Button
          look="primary"
          className="self-end"
          disabled={schema === undefined}
          onClick={() => {
            open(false);
            onSchema(text);
          }}
        >
          {texts.schema.submit}
        </Button>
      </Dialog>
    </li>
  );
}

const grouped = (value: number): string => value.toLocaleString('en');

function SaleForm({ onDone }: { onDone: () => void }) {
  const tenant_id = useTenantId();
  const cache = useQueryClient();
  const list = useRead('getAdminCreditPrices');
  const sale = useBooking('addCredits');
  const [gross, type] = useState('10.00');
  const entry = list.data?.entries[0];
  if (list.data === undefined || entry === undefined)
    return list.error === null ? <Skeleton lines={3} /> : <ProblemNote error={list.error} />;
  const { currency } = entry;
  const { version } = list.data;
  const creditsOf = (text: string): number | undefined => {
    const minor = minorOf(text, currency);
    return minor === undefined || minor === 0 ? undefined : creditsFor(entry, minor, 0);
  };
  const credits = creditsOf(gross);
  const sell = async (amount: string): Promise<void> => {
    const [gross_amount_minor, bought] = [minorOf(amount, currency), creditsOf(amount)];
    if (gross_amount_minor === undefined || bought === undefined) return;
    const paid = { currency, gross_amount_minor, price_list_version: version };
    const named = { tenant_id, provider: 'manual', provider_txn_id: `sale-${sale.identity}` };
    await sale.mutateAsync({ body: { ...named, credits: bought, ...paid } });
    toast.success(texts.sell.done(grouped(bought)));
    onDone();
    await cache.invalidateQueries();
  };
  return (
    <Form
      schema={z.object({
        gross: z.string().refine((text) => creditsOf(text) !== undefined, texts.sell.wrong(currency)),
      })}
      initial={{ gross }}
      onSubmit={(values) => sell(values.gross).catch(() => undefined)}
    >
      <div onInput={({ target }) => type((target as HTMLInputElement).value)}>
        <TextField name="gross" label={texts.sell.amount(currency)} />
      </div>
      <p className="text-soft">{credits !== undefined && texts.sell.effect(grouped(credits))}</p>
      <ProblemNote error={sale.error} />
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Go to={`/tenants/${encodeURIComponent(tenant_id)}`}>{texts.sell.more}</Go>
        <Button look="primary" type="submit" aria-busy={sale.isPending}>
          {texts.sell.submit}
        </Button>
      </div>
    </Form>
  );
}

/** Books a first sale; only an operator can. */
function SellStep() {
  const tenant_id = useTenantId();
  const balance = useRead('getBalance', { path: { tenant_id } });
  const [isOpen, open] = useState(false);
  if (balance.data === undefined || balance.data.total_credits_purchased > 0) return null;
  return (
    <li>
      <Step step={texts.sell} onDo={() => open(true)} />
      <Dialog isOpen={isOpen} onOpenChange={open} title={texts.sell.title} say={texts.sell.dialog(tenant_id)}>
        <SaleForm onDone={() => open(false)} />
      </Dialog>
    </li>
  );
}

/** What hides itself when there is nothing in it. */
function Steps({ children }: { children: ReactNode }) {
  return (
    <Card title={texts.title} className="not-has-[li]:hidden">
      <ul className="grid gap-3 sm:grid-cols-3">{children}</ul>
    </Card>
  );
}

interface NextStepsProps {
  readonly file: File;
  /** The schema that the document was read by. */
  readonly ran: string;
  /** Reads the document by another schema. */
  readonly onSchema: (text: string) => void;
}

/** What one does after the first document was read; each is done here, and gone when it is done. */
export function NextSteps({ file, ran, onSchema }: NextStepsProps) {
  const { session } = useActing();
  return (
    <Steps>
      <KeyStep name={file.name} schema={ran} />
      <SchemaStep ran={ran} onSchema={onSchema} />
      {session.role === 'admin' && <SellStep />}
    </Steps>
  );
}
