import { useQueryClient } from '@tanstack/react-query';
import { useRouter, useSearch, type RouterHistory } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { missingHere, oidcStart, type Session } from '../../api/session.ts';
import { sessionQuery, useSessionQuery } from '../../api/useSession.ts';
import { shell } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { goalOf, keepGoal } from './returnTo.ts';
import { onSignedIn } from './signedIn.ts';
import { SignInForm } from './signInForm.tsx';

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
