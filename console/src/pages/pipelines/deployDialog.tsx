import { z } from 'zod';
import { pipelines } from '../../texts/pipelines.ts';
import { shell } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { Form, TextField } from '../../ui/form/form.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import type { Artifact } from './pipeline.ts';
import { useActivate } from './useActivate.ts';

const deployTexts = pipelines.deploy;
const schema = z.object({
  environment: z.string().trim().min(1, deployTexts.required).max(64, deployTexts.required),
  percent: z
    .number(deployTexts.badShare)
    .int(deployTexts.badShare)
    .min(1, deployTexts.badShare)
    .max(100, deployTexts.badShare),
});
type Values = z.infer<typeof schema>;

/** Deploys an artifact for all documents of its project, or a share of them. */
export function DeployDialog({ of, onClose }: { of: Artifact; onClose: () => void }) {
  const { run, error, isBusy } = useActivate(onClose);
  const { tenant_id, project_id, task_id, artifact_id, artifact_uri } = of;
  return (
    <Dialog isOpen onOpenChange={onClose} title={deployTexts.title} say={deployTexts.say}>
      <Form<Values>
        schema={schema}
        initial={{ environment: 'prod', percent: 100 }}
        onSubmit={({ environment, percent }) =>
          run({ tenant_id, project_id, task_id, environment, artifact_id, artifact_uri }, percent)
        }
      >
        <p className="break-all">
          <code>{artifact_id}</code>
        </p>
        <TextField name="environment" label={deployTexts.environment} />
        <TextField name="percent" label={deployTexts.share} type="number" />
        <ProblemNote error={error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{shell.cancel}</Button>
          <Button look="primary" type="submit" isBusy={isBusy}>
            {deployTexts.submit}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
