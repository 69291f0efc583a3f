import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { z } from 'zod';
import { useChange } from '../../api/hooks.ts';
import { useTenantId } from '../../api/useSession.ts';
import { configs } from '../../texts/configs.ts';
import { shell } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { JsonEditor } from '../../ui/editor/jsonEditor.tsx';
import { Form, SelectField, TextField } from '../../ui/form/form.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import { parsedObject, type Config } from './config.ts';

const publishTexts = configs.publish;

const CONFIDENCE = /^(?:0?\.\d+|0|1|1\.0+|)$/;
const schema = z.object({
  name: z.string().trim().max(200, publishTexts.tooLong),
  mode: z.enum(['fast', 'standard', 'robust']),
  confidence: z.string().trim().regex(CONFIDENCE, publishTexts.badConfidence),
  artifact: z.string().trim().max(200, publishTexts.tooLong),
});
const MODES = Object.entries(publishTexts.modes).map(([value, name]) => ({ value, name }));
const FIRST = JSON.stringify({ type: 'object', properties: { total: { type: 'number' } } }, undefined, 2);

type Values = z.infer<typeof schema>;

const initialOf = (of: Config | undefined): Values => ({
  name: of?.name ?? '',
  mode: of?.mode ?? 'standard',
  confidence: of?.min_confidence == null ? '' : String(of.min_confidence),
  artifact: of?.artifact_id ?? '',
});

const settingsOf = ({ name, mode, confidence, artifact }: Values) => ({
  name: name === '' ? null : name,
  mode,
  min_confidence: confidence === '' ? null : Number(confidence),
  artifact_id: artifact === '' ? null : artifact,
});

interface PublishDialogProps {
  /** The version to begin from; undefined: a new config. */
  readonly of: Config | undefined;
  readonly onClose: () => void;
}

/** Publishes the first or a next version of a config. */
export function PublishDialog({ of, onClose }: PublishDialogProps) {
  const tenant_id = useTenantId();
  const cache = useQueryClient();
  const publish = useChange('publishConfig');
  const [text, setText] = useState(of === undefined ? FIRST : JSON.stringify(of.schema, undefined, 2));
  const [isWrong, mark] = useState(false);
  const send = async (values: Values): Promise<void> => {
    const parsed = parsedObject(text);
    mark(parsed === undefined);
    if (parsed === undefined) return;
    const own = of === undefined ? {} : { config_id: of.config_id };
    const answer = await publish
      .mutateAsync({ body: { tenant_id, ...own, ...settingsOf(values), schema: parsed } })
      .catch(() => undefined); // the note says it
    if (answer === undefined) return;
    toast(publishTexts.done(answer.version));
    onClose();
    await cache.invalidateQueries({ queryKey: ['listConfigs'] });
    await cache.invalidateQueries({ queryKey: ['getConfig'] });
  };
  return (
    <Dialog isOpen isWide onOpenChange={onClose} title={publishTexts.title} say={publishTexts.say}>
      <Form<Values> schema={schema} initial={initialOf(of)} onSubmit={send}>
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField name="name" label={publishTexts.name} autoComplete="off" />
          <SelectField name="mode" label={publishTexts.mode} choices={MODES} />
          <TextField name="confidence" label={publishTexts.confidence} say={publishTexts.confidenceSay} />
          <TextField name="artifact" label={publishTexts.artifact} say={publishTexts.artifactSay} />
        </div>
        <div className="flex flex-col gap-1">
          <span className="font-medium">{publishTexts.schema}</span>
          <JsonEditor label={publishTexts.schema} value={text} onChange={setText} height="280px" />
          {isWrong && (
            <p role="alert" className="text-[13px] text-bad">
              {publishTexts.badSchema}
            </p>
          )}
        </div>
        <ProblemNote error={publish.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{shell.cancel}</Button>
          <Button look="primary" type="submit" isBusy={publish.isPending}>
            {publishTexts.submit}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
