import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { z } from 'zod';
import { useChange } from '../../api/hooks.ts';
import { keptExamples } from '../../api/keptExamples.ts';
import { useTenantId } from '../../api/useSession.ts';
import { pipelines } from '../../texts/pipelines.ts';
import { shell } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { Form, TextField } from '../../ui/form/form.tsx';
import { Select } from '../../ui/form/select.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import { ExamplesInput, JsonInput } from './inputs.tsx';
import { examplesOf, linesOf, parsedObject } from './pipeline.ts';
import { QuoteLine, type Tier } from './quoteLine.tsx';

const texts = pipelines.start;

const scope = z.string().trim().min(1, texts.required).max(128, texts.required);
const schema = z.object({
  name: z.string().trim().max(200, texts.tooLong),
  project_id: scope,
  task_id: scope,
});
type Values = z.infer<typeof schema>;

const TIERS = Object.entries(texts.tiers).map(([value, name]) => ({ value, name }));
const FIRST = JSON.stringify({ type: 'object', properties: { total: { type: 'number' } } }, undefined, 2);

interface StartDialogProps {
  readonly onStarted: (job_id: string) => void;
  readonly onClose: () => void;
}

/** Starts a training: examples, schema, and what it costs before. */
export function StartDialog({ onStarted, onClose }: StartDialogProps) {
  const tenant_id = useTenantId();
  const cache = useQueryClient();
  const create = useChange('createTrainingJob');
  const [tier, setTier] = useState<Tier>('light');
  const [fields, setFields] = useState(FIRST);
  const [given, setGiven] = useState(() => linesOf(keptExamples(tenant_id)));
  const [isTried, tried] = useState(false);
  const examples = examplesOf(given) ?? [];
  const target = parsedObject(fields);
  const isEnough = examples.length >= 2;
  const send = async ({ name, ...scopes }: Values): Promise<void> => {
    tried(true);
    if (target === undefined || !isEnough) return;
    const own = { name: name === '' ? null : name, optimizer_tier: tier };
    const body = { tenant_id, ...scopes, ...own, schema: target, examples: [...examples] };
    const answer = await create.mutateAsync({ body }).catch(() => undefined); // the note says it
    if (answer === undefined) return;
    toast(texts.done);
    onClose();
    onStarted(answer.job_id);
    await cache.invalidateQueries({ queryKey: ['listTrainingJobs'] });
  };
  return (
    <Dialog isOpen isWide onOpenChange={onClose} title={texts.title} say={texts.say}>
      <Form<Values>
        schema={schema}
        initial={{ name: '', project_id: 'default', task_id: 'default' }}
        onSubmit={send}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField name="name" label={texts.name} autoComplete="off" />
          <div className="flex flex-col gap-1">
            <span className="font-medium">{texts.tier}</span>
            <Select
              label={texts.tier}
              choices={TIERS}
              value={tier}
              onChange={(value) => setTier(value as Tier)}
            />
          </div>
          <TextField name="project_id" label={texts.project} />
          <TextField name="task_id" label={texts.task} />
        </div>
        <div className="grid gap-4 md:grid-cols-2">
          <JsonInput
            label={texts.schema}
            value={fields}
            onChange={setFields}
            error={isTried && target === undefined ? texts.badSchema : undefined}
          />
          <ExamplesInput
            value={given}
            onChange={setGiven}
            count={examples.length}
            error={isTried && !isEnough ? texts.badExamples : undefined}
          />
        </div>
        <QuoteLine tier={tier} examples={examples.length} />
        <ProblemNote error={create.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{shell.cancel}</Button>
          <Button look="primary" type="submit" isBusy={create.isPending}>
            {texts.submit}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
