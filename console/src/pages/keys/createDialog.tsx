import { z } from 'zod';
import { api } from '../../api/connection.ts';
import { useActing, useTenantId } from '../../api/useSession.ts';
import { keys as texts } from '../../texts/keys.ts';
import { shell } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { Form, SelectField, TextField } from '../../ui/form/form.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import { endAfter, type Issued } from './keys.ts';
import { useIssue } from './useIssue.ts';

const { create } = texts;
const schema = z.object({
  name: z.string().trim().max(200, create.tooLong),
  role: z.enum(['tenant', 'service', 'admin']),
  ends: z.enum(['never', '30', '90', '365']),
});
const ROLES = (['tenant', 'service', 'admin'] as const).map((value) => ({
  value,
  name: create.roles[value],
}));
const ENDS = [
  { value: 'never', name: create.never },
  ...[30, 90, 365].map((days) => ({ value: String(days), name: create.days(days) })),
];

interface CreateDialogProps {
  readonly onClose: () => void;
  readonly onIssued: (issued: Issued) => void;
}

/** Makes a key; operators choose its role as well. */
export function CreateDialog({ onClose, onIssued }: CreateDialogProps) {
  const tenant_id = useTenantId();
  const { session } = useActing();
  const { run, error, isBusy } = useIssue(onIssued);
  return (
    <Dialog isOpen onOpenChange={onClose} title={create.title} say={create.say}>
      <Form<z.infer<typeof schema>>
        schema={schema}
        initial={{ name: '', role: 'tenant', ends: 'never' }}
        onSubmit={({ name, role, ends }) => {
          const expires_at = endAfter(ends, Date.now());
          const body = { tenant_id, role, name: name === '' ? null : name, expires_at };
          return run(() => api.createApiKey({ body }));
        }}
      >
        <TextField name="name" label={create.name} say={create.nameSay} autoComplete="off" autoFocus />
        {session.role === 'admin' && (
          <SelectField name="role" label={create.role} say={create.roleSay} choices={ROLES} />
        )}
        <SelectField name="ends" label={create.ends} choices={ENDS} />
        <ProblemNote error={error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{shell.cancel}</Button>
          <Button look="primary" type="submit" isBusy={isBusy}>
            {create.submit}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
