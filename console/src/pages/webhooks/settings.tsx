import type { Webhook, WebhookCreateRequest } from '@quire/client';
import { useState } from 'react';
import { z } from 'zod';
import { useQueryClient } from '@tanstack/react-query';
import { toast } from 'sonner';
import { api, useChange } from '../../api/connection.ts';
import { useActing, useTenantId } from '../../api/session.ts';
import { shell } from '../../texts/shell.ts';
import { webhooks } from '../../texts/webhooks.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { useIssue } from '../../ui/secret.tsx';
import { ProblemNote } from '../../ui/states.tsx';

const texts = webhooks.form;

type EventType = WebhookCreateRequest['events'][number];

const ALL: EventType = '*';
/** Events about the whole service, which only operators are told. */
const OPERATORS: readonly EventType[] = ['reconciliation.drift', 'audit.finding'];
const NAMES = Object.entries(webhooks.events) as readonly (readonly [EventType, string])[];

const LEVELS_MAX = 10;
const levelsOf = (text: string): readonly number[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(Number);

const areLevels = (text: string): boolean => {
  const levels = levelsOf(text);
  const isWhole = levels.every((level) => Number.isSafeInteger(level) && level >= 0);
  return isWhole && levels.length <= LEVELS_MAX && new Set(levels).size === levels.length;
};

const schema = z.object({
  url: z.string().trim().min(1, texts.badUrl).max(2_048, texts.badUrl),
  description: z.string().trim().max(500, texts.tooLong),
  levels: z.string().refine(areLevels, texts.badLevels),
});
type Values = z.infer<typeof schema>;

/** What is sent for a form. */
const settingsOf = ({ url, description, levels }: Values, events: ReadonlySet<EventType>) => {
  const low = levelsOf(levels);
  return {
    url,
    events: [...events],
    description: description === '' ? null : description,
    ...(low.length > 0 && { low_balance_at: [...low] }),
  };
};

interface EventChoicesProps {
  readonly chosen: ReadonlySet<EventType>;
  readonly onChange: (chosen: ReadonlySet<EventType>) => void;
  readonly error: string | undefined;
}

/** The events to be told; everything, or some by name. */
function EventChoices({ chosen, onChange, error }: EventChoicesProps) {
  const { session } = useActing();
  const offered = NAMES.filter(([type]) => session.role === 'admin' || !OPERATORS.includes(type));
  const toggle = (type: EventType, isOn: boolean): void => {
    const next = new Set(chosen);
    if (isOn) next.add(type);
    else next.delete(type);
    onChange(next);
  };
  return (
    <fieldset className="flex min-w-0 flex-col gap-1">
      <legend className="mb-1 font-medium">{texts.events}</legend>
      <div
        role="group"
        aria-label={texts.events}
        tabIndex={0}
        className="grid max-h-56 gap-x-4 gap-y-1 overflow-y-auto rounded-md border border-line p-2 sm:grid-cols-2"
      >
        {offered.map(([type, name]) => {
          const isImplied = chosen.has(ALL) && type !== ALL && !OPERATORS.includes(type);
          return (
            <label key={type} className={`flex items-start gap-2 ${type === ALL ? 'sm:col-span-2' : ''}`}>
              <input
                type="checkbox"
                className="mt-1"
                disabled={isImplied}
                checked={isImplied || chosen.has(type)}
                onChange={({ target }) => toggle(type, target.checked)}
              />
              <span className="min-w-0">
                {name}
                {type !== ALL && <code className="block text-[13px] text-soft">{type}</code>}
              </span>
            </label>
          );
        })}
      </div>
      {error !== undefined && (
        <p role="alert" className="text-[13px] text-bad">
          {error}
        </p>
      )}
    </fieldset>
  );
}

interface SettingsProps {
  readonly webhook?: Webhook | undefined;
  readonly send: (settings: ReturnType<typeof settingsOf>) => Promise<unknown>;
  readonly error: unknown;
  readonly isBusy: boolean;
  readonly onClose: () => void;
}

/** The form of a webhook, new or as it is. */
function Settings({ webhook, send, error, isBusy, onClose }: SettingsProps) {
  const [events, choose] = useState(() => new Set((webhook?.events ?? [ALL]) as readonly EventType[]));
  const [isTried, tried] = useState(false);
  const isNone = events.size === 0;
  const initial = {
    url: webhook?.url ?? '',
    description: webhook?.description ?? '',
    levels: webhook?.low_balance_at.join(', ') ?? '',
  };
  return (
    <Form<Values>
      schema={schema}
      initial={initial}
      onSubmit={async (values) => {
        tried(true);
        if (!isNone) await send(settingsOf(values, events));
      }}
    >
      <TextField name="url" label={texts.url} say={texts.urlSay} placeholder="https://" autoComplete="off" />
      <TextField name="description" label={texts.description} autoComplete="off" />
      <EventChoices
        chosen={events}
        onChange={(next) => choose(new Set(next))}
        error={isTried && isNone ? texts.noEvents : undefined}
      />
      <TextField name="levels" label={texts.levels} say={texts.levelsSay} autoComplete="off" />
      <ProblemNote error={error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{shell.cancel}</Button>
        <Button look="primary" type="submit" isBusy={isBusy}>
          {webhook === undefined ? texts.submit : texts.save}
        </Button>
      </div>
    </Form>
  );
}

interface CreateProps {
  readonly onClose: () => void;
  readonly onIssued: (secret: string) => void;
}

/** Makes a webhook of the tenant. */
export function CreateWebhook({ onClose, onIssued }: CreateProps) {
  const tenant_id = useTenantId();
  const cache = useQueryClient();
  const issue = useIssue<{ readonly secret: string }>(async ({ secret }) => {
    onIssued(secret);
    await cache.invalidateQueries({ queryKey: ['listWebhooks'] });
  });
  return (
    <Dialog isOpen isWide onOpenChange={onClose} title={texts.create} say={texts.say}>
      <Settings
        error={issue.error}
        isBusy={issue.isBusy}
        onClose={onClose}
        send={(settings) => issue.run(() => api.createWebhook({ body: { tenant_id, ...settings } }))}
      />
    </Dialog>
  );
}

/** Reads again what is shown of webhooks. */
export const useShownAgain = () => {
  const cache = useQueryClient();
  return async (): Promise<void> => {
    for (const name of ['getWebhook', 'listWebhooks', 'listWebhookDeliveries'])
      await cache.invalidateQueries({ queryKey: [name] });
  };
};

/** Changes a webhook; it stays enabled or disabled. */
export function ChangeWebhook({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const change = useChange('changeWebhook');
  const again = useShownAgain();
  const { webhook_id, enabled } = webhook;
  const send = async (settings: ReturnType<typeof settingsOf>): Promise<void> => {
    const input = { path: { webhook_id }, body: { ...settings, enabled } };
    const answer = await change.mutateAsync(input).catch(() => undefined); // the note says it
    if (answer === undefined) return;
    toast(texts.saved);
    onClose();
    await again();
  };
  return (
    <Dialog isOpen isWide onOpenChange={onClose} title={texts.change} say={texts.say}>
      <Settings
        webhook={webhook}
        error={change.error}
        isBusy={change.isPending}
        onClose={onClose}
        send={send}
      />
    </Dialog>
  );
}
