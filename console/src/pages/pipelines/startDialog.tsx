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

const startTexts = pipelines.start;

const scope = z.string().trim().min(1, startTexts.required).max(128, startTexts.required);
const schema = z.object({
  name: z.string().trim().max(200, startTexts.tooLong),
  project_id: scope,
  task_id: scope,
});
type Values = z.infer<typeof schema>;

const TIERS = Object.entries(startTexts.tiers).map(([value, name]) => ({ value, name }));
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
    toast(startTexts.done);
    onClose();
    onStarted(answer.job_id);
    await cache.invalidateQueries({ queryKey: ['listTrainingJobs'] });
  };
  return (
    <Dialog isOpen isWide onOpenChange={onClose} title={startTexts.title} say={startTexts.say}>
      <Form<Values>
        schema={schema}
        initial={{ name: '', project_id: 'default', task_id: 'default' }}
        onSubmit={send}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField name="name" label={startTexts.name} autoComplete="off" />
          <div className="flex flex-col gap-1">
            <span className="font-medium">{startTexts.tier}</span>
            <Select
              label={startTexts.tier}
              choices={TIERS}
              value={tier}
              onChange={(value) => setTier(value as Tier)}
            />
          </div>
          <TextField name="project_id" label={startTexts.project} />
          <TextField name="task_id" label={startTexts.task} />
        </div>
        <div className="grid gap-4 md:grid-cols-2">
          <JsonInput
            label={startTexts.schema}
            value={fields}
            onChange={setFields}
            error={isTried && target === undefined ? startTexts.badSchema : undefined}
          />
          <ExamplesInput
            value={given}
            onChange={setGiven}
            count={examples.length}
            error={isTried && !isEnough ? startTexts.badExamples : undefined}
          />
        </div>
        <QuoteLine tier={tier} examples={examples.length} />
        <ProblemNote error={create.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{shell.cancel}</Button>
          <Button look="primary" type="submit" isBusy={create.isPending}>
            {startTexts.submit}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
