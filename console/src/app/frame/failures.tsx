import { useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { shell } from '../../texts/shell.ts';
import { Empty } from '../../ui/empty.tsx';
import { Go } from '../../ui/go.tsx';
import { PageHeader } from '../../ui/pageHeader.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';

/** No page has this address. */
export function NotFound() {
  return (
    <main className="mx-auto max-w-2xl p-6">
      <Empty title={shell.notFound.title} say={shell.notFound.say}>
        <Go to="/playground">{shell.notFound.back}</Go>
      </Empty>
    </main>
  );
}

/** A page threw while it was drawn, or could not be loaded. */
export function Broken({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const again = (): void => {
    reset();
    void router.invalidate();
  };
  return (
    <div className="mx-auto max-w-2xl p-6">
      <PageHeader title={shell.broken} />
      <ProblemNote error={error} onRetry={again} />
    </div>
  );
}
