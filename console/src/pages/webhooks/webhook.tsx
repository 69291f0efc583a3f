import type { Webhook } from '@quire/client';
import { useState } from 'react';
import { toast } from 'sonner';
import { api, useChange, useRead } from '../../api/connection.ts';
import { useActing } from '../../api/session.ts';
import { shell } from '../../texts/shell.ts';
import { webhooks as texts } from '../../texts/webhooks.ts';
import { Button } from '../../ui/button.tsx';
import { Badge, Card, PageHeader, type Tone } from '../../ui/card.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Go, useGo } from '../../ui/go.tsx';
import { Named } from '../../ui/names.tsx';
import { SecretDialog, useIssue } from '../../ui/secret.tsx';
import { Select } from '../../ui/select.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { Time } from '../../ui/values.tsx';
import { Deliveries } from './deliveries.tsx';
import { ChangeWebhook, useShownAgain } from './settings.tsx';

type State = keyof typeof texts.states;

/** How a webhook stands. */
export const stateOf = ({ enabled, disabled_reason, failing_since }: Webhook): State => {
  if (!enabled) return disabled_reason === null ? 'off' : 'stopped';
  return failing_since === null ? 'on' : 'failing';
};

const TONES: Readonly<Record<State, Tone>> = { on: 'good', failing: 'warn', off: 'neutral', stopped: 'bad' };

/** How a webhook stands, in a word. */
export function WebhookState({ webhook }: { webhook: Webhook }) {
  const state = stateOf(webhook);
  return <Badge tone={TONES[state]}>{texts.states[state]}</Badge>;
}

const KEEPS = Object.entries(texts.rotate.keeps).map(([value, name]) => ({ value, name }));

interface RotateProps {
  readonly webhook: Webhook;
  readonly onClose: () => void;
  readonly onIssued: (secret: string) => void;
}

/** Replaces the secret; the old one signs too for a while. */
function Rotate({ webhook: { webhook_id }, onClose, onIssued }: RotateProps) {
  const [keep, setKeep] = useState('86400');
  const issue = useIssue<{ readonly secret: string }>(({ secret }) => onIssued(secret));
  const body = { keep_old_seconds: Number(keep) };
  const send = (): Promise<void> => issue.run(() => api.rotateWebhookSecret({ path: { webhook_id }, body }));
  return (
    <Dialog isOpen onOpenChange={onClose} title={texts.rotate.title} say={texts.rotate.say}>
      <div className="flex flex-col gap-1">
        <span className="font-medium">{texts.rotate.keep}</span>
        <Select label={texts.rotate.keep} choices={KEEPS} value={keep} onChange={setKeep} />
      </div>
      <ProblemNote error={issue.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{shell.cancel}</Button>
        <Button look="primary" isBusy={issue.isBusy} onClick={() => void send()}>
          {texts.rotate.submit}
        </Button>
      </div>
    </Dialog>
  );
}

/** Asks before a webhook is removed for good. */
function Remove({ webhook: { webhook_id, url }, onClose }: { webhook: Webhook; onClose: () => void }) {
  const remove = useChange('removeWebhook');
  const again = useShownAgain();
  const go = useGo();
  const send = async (): Promise<void> => {
    const isDone = await remove.mutateAsync({ path: { webhook_id } }).then(
      () => true,
      () => false,
    );
    if (!isDone) return;
    toast(texts.remove.done);
    go('/webhooks');
    await again();
  };
  return (
    <Dialog isOpen onOpenChange={onClose} title={texts.remove.title(url)} say={texts.remove.say}>
      <ProblemNote error={remove.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{shell.cancel}</Button>
        <Button look="danger" isBusy={remove.isPending} onClick={() => void send()}>
          {texts.remove.submit}
        </Button>
      </div>
    </Dialog>
  );
}

type Doing =
  | { readonly what: 'change' | 'rotate' | 'remove' }
  | { readonly what: 'show'; readonly secret: string };

interface DialogsProps {
  readonly webhook: Webhook;
  readonly doing: Doing;
  readonly onDo: (doing: Doing | undefined) => void;
}

function Dialogs({ webhook, doing, onDo }: DialogsProps) {
  const onClose = (): void => onDo(undefined);
  switch (doing.what) {
    case 'change':
      return <ChangeWebhook webhook={webhook} onClose={onClose} />;
    case 'rotate':
      return (
        <Rotate webhook={webhook} onClose={onClose} onIssued={(secret) => onDo({ what: 'show', secret })} />
      );
    case 'remove':
      return <Remove webhook={webhook} onClose={onClose} />;
    case 'show':
      return (
        <SecretDialog
          texts={texts.secret}
          label={texts.secret.label}
          secret={doing.secret}
          onStored={onClose}
        />
      );
  }
}

/** What is changed by one press: it is tested, enabled or disabled. */
function Presses({ webhook }: { webhook: Webhook }) {
  const { webhook_id, enabled, url, description, events, low_balance_at } = webhook;
  const test = useChange('testWebhook');
  const change = useChange('changeWebhook');
  const again = useShownAgain();
  const path = { webhook_id };
  const send = async (): Promise<void> => {
    const sent = await test.mutateAsync({ path }).catch(() => undefined); // the note says it
    if (sent === undefined) return;
    toast(texts.test.sent);
    await again();
  };
  const turn = async (): Promise<void> => {
    const settings = { url, description, events: events as never, enabled: !enabled };
    const body = low_balance_at.length > 0 ? { ...settings, low_balance_at } : settings;
    const changed = await change.mutateAsync({ path, body }).catch(() => undefined);
    if (changed === undefined) return;
    toast(texts.enable.done(!enabled));
    await again();
  };
  return (
    <>
      <Button
        look="primary"
        disabled={!enabled}
        title={enabled ? undefined : texts.test.off}
        isBusy={test.isPending}
        onClick={() => void send()}
      >
        {texts.test.action}
      </Button>
      <Button isBusy={change.isPending} onClick={() => void turn()}>
        {enabled ? texts.enable.off : texts.enable.on}
      </Button>
      <ProblemNote error={test.error ?? change.error} />
    </>
  );
}

/** What a webhook is told, and why nothing arrives where it does not. */
function Facts({ webhook }: { webhook: Webhook }) {
  const { webhook_id, description, events, low_balance_at, disabled_reason, failing_since } = webhook;
  const { facts } = texts;
  const rows = [
    { name: texts.columns.description, value: description },
    { name: texts.columns.events, value: events.includes('*') ? texts.all : events.join(', ') },
    {
      name: facts.levels,
      value:
        low_balance_at.length === 0
          ? facts.none
          : low_balance_at.map((at) => at.toLocaleString('en')).join(', '),
    },
  ];
  return (
    <Card>
      {disabled_reason !== null && <p className="mb-3 text-bad">{texts.reasons[disabled_reason]}</p>}
      {disabled_reason === null && failing_since !== null && (
        <p className="mb-3 text-warn">
          {texts.failingSince} <Time at={failing_since} />
        </p>
      )}
      <dl className="grid gap-x-6 gap-y-2 sm:grid-cols-2 lg:grid-cols-4">
        {rows.map(({ name, value }) => (
          <div key={name} className="min-w-0">
            <dt className="text-[13px] text-soft">{name}</dt>
            <dd className="wrap-anywhere">{value === null ? '–' : <bdi>{value}</bdi>}</dd>
          </div>
        ))}
        <div className="min-w-0">
          <dt className="text-[13px] text-soft">{facts.id}</dt>
          <dd>
            <Named id={webhook_id} />
          </dd>
        </div>
      </dl>
    </Card>
  );
}

/** One webhook with its deliveries. */
export function WebhookView({ webhookId }: { webhookId: string }) {
  const { tenantId } = useActing();
  const found = useRead('getWebhook', { path: { webhook_id: webhookId } });
  const [doing, onDo] = useState<Doing>();
  const webhook = found.data;
  return (
    <>
      <p className="mb-1 text-[13px]">
        <Go to="/webhooks">{texts.back}</Go>
        {webhook !== undefined && webhook.tenant_id !== tenantId && (
          <span className="text-soft"> · {webhook.tenant_id}</span>
        )}
      </p>
      <div className="wrap-anywhere">
        <PageHeader title={webhook?.url ?? texts.title}>
          {webhook !== undefined && (
            <>
              <WebhookState webhook={webhook} />
              <Presses webhook={webhook} />
              <Button onClick={() => onDo({ what: 'change' })}>{texts.edit}</Button>
              <Button onClick={() => onDo({ what: 'rotate' })}>{texts.rotate.action}</Button>
              <Button look="danger" onClick={() => onDo({ what: 'remove' })}>
                {texts.remove.action}
              </Button>
            </>
          )}
        </PageHeader>
      </div>
      {found.isPending && <Skeleton lines={4} className="h-8" />}
      <ProblemNote error={found.error} onRetry={() => void found.refetch()} />
      {webhook !== undefined && (
        <div className="flex flex-col gap-6">
          <Facts webhook={webhook} />
          <Deliveries webhookId={webhookId} />
        </div>
      )}
      {webhook !== undefined && doing !== undefined && (
        <Dialogs webhook={webhook} doing={doing} onDo={onDo} />
      )}
    </>
  );
}
