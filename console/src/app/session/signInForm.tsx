import { useMutation } from '@tanstack/react-query';
import { isProblem } from '@quire/client';
import { z } from 'zod';
import { SessionNotKeptError, signIn } from '../../api/session.ts';
import { shell } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { Form, TextField } from '../../ui/form/form.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import { tellSignedIn } from './signedIn.ts';

const schema = z.object({ api_key: z.string().trim().min(1, shell.signIn.noKey) });

/** What the form says itself of a failure; all others are told as on any page. */
const sentenceFor = (error: unknown): string | undefined => {
  if (error instanceof SessionNotKeptError) return shell.signIn.notKept;
  return isProblem(error) && error.status === 401 ? shell.signIn.wrong : undefined;
};

/** Signs in by a key. Every window hears of it, this one too. */
export function SignInForm() {
  const entry = useMutation({ mutationFn: (key: string) => signIn(key), onSuccess: tellSignedIn });
  const said = sentenceFor(entry.error);
  return (
    <Form schema={schema} initial={{ api_key: '' }} onSubmit={({ api_key }) => entry.mutate(api_key)}>
      <TextField
        name="api_key"
        label={shell.signIn.key}
        say={shell.signIn.hint}
        type="password"
        autoFocus
        autoComplete="off"
      />
      {said !== undefined ? (
        <p role="alert" className="text-bad">
          {said}
        </p>
      ) : (
        <ProblemNote
          error={entry.error}
          onRetry={() => entry.variables !== undefined && entry.mutate(entry.variables)}
        />
      )}
      <Button look="primary" type="submit" isBusy={entry.isPending} className="justify-center">
        {shell.signIn.submit}
      </Button>
    </Form>
  );
}
