import { useMutation, useQueryClient } from '@tanstack/react-query';
import { isProblem } from '@quire/client';
import { z } from 'zod';
import { useRouter, useSearch, type RouterHistory } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import {
  SessionNotKeptError,
  signIn,
  missingHere,
  oidcStart,
  sessionQuery,
  useSessionQuery,
  readSession,
  type Session,
  type SignedIn,
} from '../api/session.ts';
import { shell } from '../texts/shell.ts';
import { Button } from '../ui/button.tsx';
import { Form, TextField } from '../ui/form.tsx';
import { ProblemNote, Empty } from '../ui/states.tsx';
import { onSessionOver } from '../api/send.ts';
import { Dialog } from '../ui/dialog.tsx';

const KEY = 'quire.returnTo';

/** Only addresses of the console itself. */
const isOwn = (path: unknown): path is string => typeof path === 'string' && /^\/[a-z]/.test(path);

/** Where signing in leads: what is asked for, else what was before the way to the provider, else the first page. */
const goalOf = (asked: unknown): string => (isOwn(asked) ? asked : (sessionStorage.getItem(KEY) ?? '/'));

/** Keeps the goal over the way to the provider and back. */
const keepGoal = (goal: string): void => sessionStorage.setItem(KEY, goal);

const forgetGoal = (): void => sessionStorage.removeItem(KEY);

const CHANNEL = 'quire.signed-in';

/** Tells every window of the console in this browser that somebody signed in. */
const tellSignedIn = (): void => {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage('');
  channel.close();
};

/** Calls a function whenever somebody signed in, in whichever window. */
const onSignedIn = (listener: () => void): (() => void) => {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = listener;
  return () => channel.close();
};

const schema = z.object({ api_key: z.string().trim().min(1, shell.signIn.noKey) });

/** What the form says itself of a failure; all others are told as on any page. */
const sentenceFor = (error: unknown): string | undefined => {
  if (error instanceof SessionNotKeptError) return shell.signIn.notKept;
  return isProblem(error) && error.status === 401 ? shell.signIn.wrong : undefined;
};

/** Signs in by a key. Every window hears of it, this one too. */
function SignInForm() {
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

const { signIn: texts } = shell;

const isKnown = (code: string): code is keyof typeof texts.problems => Object.hasOwn(texts.problems, code);

const problemText = (code: string | undefined): string | undefined => {
  if (code === undefined) return undefined;
  return texts.problems[isKnown(code) ? code : 'other'];
};

/** Goes to an address as it was asked for, with its query. */
function GoOn({ to }: { to: string }) {
  const { history } = useRouter() as { readonly history: RouterHistory };
  useEffect(() => history.replace(`/app${to}`), [history, to]);
  return null;
}

/** Why nobody can sign in at this address, and where: to ask again would not help. */
function Missing({ what, publicUrl }: { what: 'https' | 'address'; publicUrl: string }) {
  return (
    <div role="alert" className="flex flex-col gap-2 rounded-md bg-warn-soft p-3 text-warn">
      <p className="font-medium">{texts.missing.title}</p>
      <p>
        {texts.missing[what]}
        {what === 'address' && (
          <>
            {' '}
            <a className="break-all underline" href={publicUrl}>
              {publicUrl}
            </a>
          </>
        )}
      </p>
    </div>
  );
}

/** The ways in that the service offers. */
function Ways({ session, goal }: { session: Session | undefined; goal: string }) {
  return (
    <>
      <SignInForm />
      {session?.methods.includes('oidc') === true && (
        <>
          <p className="text-center text-soft">{texts.or}</p>
          <Button asChild className="justify-center">
            <a href={oidcStart(`/app${goal}`)}>{texts.oidc}</a>
          </Button>
        </>
      )}
      <p className="text-[13px] text-soft">{texts.firstTime}</p>
    </>
  );
}

/** Signing in, by a key or by the organisation's provider; afterwards back to where one wanted to go. */
export function SignInPage() {
  const { problem, to }: { problem?: string; to?: string } = useSearch({ strict: false });
  const { data: session } = useSessionQuery();
  const cache = useQueryClient();
  const [goal] = useState(() => goalOf(to));
  useEffect(() => keepGoal(goal), [goal]);
  useEffect(
    () => onSignedIn(() => void cache.invalidateQueries({ queryKey: sessionQuery.queryKey })),
    [cache],
  );
  if (session?.signed_in === true) return <GoOn to={goal} />;
  const missing = missingHere(session);
  const said = missing === undefined ? problemText(problem) : undefined;
  return (
    <main className="flex min-h-dvh items-center justify-center p-4">
      <div className="flex w-full max-w-sm flex-col gap-4 rounded-xl border border-line bg-surface p-6 shadow-sm">
        <h1 className="text-lg font-semibold">{texts.title}</h1>
        {said !== undefined && (
          <p role="alert" className="rounded-md bg-warn-soft p-3 text-warn">
            {said}
          </p>
        )}
        {missing === undefined ? (
          <Ways session={session} goal={goal} />
        ) : (
          <Missing what={missing} publicUrl={session?.public_url ?? ''} />
        )}
      </div>
    </main>
  );
}

const END = '/signed-in';

/** The provider's pages in a window of their own: leaving this one would lose what was typed. */
const openProvider = (): void => {
  // the new window begins with a copy of what is kept here, and needs it where signing in fails at first
  keepGoal(END);
  window.open(oidcStart(`/app${END}`), 'quire-sign-in', 'popup,width=520,height=680');
  forgetGoal();
};

/** Another customer, or one who may more or less: what stands on the page is not for them. */
const isOther = (before: SignedIn, now: Session): boolean =>
  now.signed_in && (now.tenant_id !== before.tenant_id || now.role !== before.role);

/** The session that ended, and how to go on in a new one. */
const useOver = () => {
  const cache = useQueryClient();
  const [over, mark] = useState<SignedIn>();
  useEffect(
    () =>
      onSessionOver(() => {
        const session = cache.getQueryData(sessionQuery.queryKey);
        if (session?.signed_in === true) mark(session);
      }),
    [cache],
  );
  useEffect(() => {
    if (over === undefined) return undefined;
    const goOn = async (): Promise<void> => {
      const session = await readSession();
      if (!session.signed_in) return;
      if (isOther(over, session)) {
        sessionStorage.clear();
        window.location.reload();
        return;
      }
      cache.setQueryData(sessionQuery.queryKey, session);
      mark(undefined);
      void cache.refetchQueries({ predicate: ({ state }) => state.status === 'error' });
    };
    // what is not answered now is asked for again by signing in again
    return onSignedIn(() => void goOn().catch(() => undefined));
  }, [cache, over]);
  return { over, leave: () => mark(undefined) };
};

/** Asks to sign in over the page when the session ended: the page stays as it is, with what was typed. */
export function SignInAgain() {
  const { over, leave } = useOver();
  return (
    <Dialog isOpen={over !== undefined} onOpenChange={leave} title={texts.title} say={texts.over}>
      <SignInForm />
      {over?.methods.includes('oidc') === true && (
        <>
          <p className="text-center text-soft">{texts.or}</p>
          <Button className="justify-center" onClick={openProvider}>
            {texts.oidc}
          </Button>
          <p className="text-[13px] text-soft">{texts.oidcWindow}</p>
        </>
      )}
    </Dialog>
  );
}

/** Where a window ends that was opened only to sign in: it tells the others, and closes where it may. */
export function SignedInPage() {
  useEffect(() => {
    tellSignedIn();
    window.close();
  }, []);
  return (
    <main className="mx-auto max-w-2xl p-6">
      <Empty title={shell.signIn.done} say={shell.signIn.doneSay} />
    </main>
  );
}
