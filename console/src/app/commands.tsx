import { useQuery } from '@tanstack/react-query';
import { Command } from 'cmdk';
import { useDeferredValue, useState, type ReactNode } from 'react';
import { useRead } from '../api/connection.ts';
import { useActing } from '../api/session.ts';
import { kindName, shell } from '../texts/shell.ts';
import { useGo } from '../ui/go.tsx';
import { PAGES } from './pages.ts';
import { chooseTheme, type Theme } from './theme.ts';
import { classes } from '../ui/style.ts';

const ITEM =
  'flex cursor-pointer items-center gap-3 rounded-md px-3 py-2 data-[selected=true]:bg-accent-soft';
const GROUP =
  '[&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:text-xs ' +
  '[&_[cmdk-group-heading]]:text-soft';
const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

/** Something that was found, by its name; the ID tells those of one name apart. */
interface Found {
  readonly id: string;
  readonly name: string;
  readonly to: string;
}

interface ResultsProps {
  readonly heading: string;
  readonly found: readonly Found[];
  /** What was looked for: the service found these by it. */
  readonly q: string;
  readonly onGo: (to: string) => void;
}

function Results({ heading, found, q, onGo }: ResultsProps) {
  if (found.length === 0) return null;
  return (
    <Command.Group heading={heading} className={GROUP}>
      {found.map(({ id, name, to }) => (
        <Command.Item
          key={id}
          value={`${heading} ${name} ${id}`}
          keywords={[q]}
          onSelect={() => onGo(to)}
          className={ITEM}
        >
          <bdi className="min-w-0 truncate">{name}</bdi>
          {name !== id && <code className="ml-auto shrink-0 text-[13px] text-soft">{id}</code>}
        </Command.Item>
      ))}
    </Command.Group>
  );
}

/** Letters from which the service is asked, and the most that are shown of a kind. */
const LEAST = 2;
const MOST = 5;

/** Where what was done with a document is listed. */
const documentAt = (documentId: string): string => `/runs?document_id=${encodeURIComponent(documentId)}`;

/** Documents and operations of the tenant that is acted for. */
function OfTenant({ q, onGo }: Pick<ResultsProps, 'q' | 'onGo'>) {
  const { tenantId: tenant_id = '' } = useActing();
  const options = { enabled: tenant_id !== '' };
  const query = { tenant_id, q, limit: MOST };
  const documents = useRead('listDocuments', { query }, options);
  const operations = useRead('listOperations', { query }, options);
  return (
    <>
      <Results
        heading={shell.palette.documents}
        q={q}
        onGo={onGo}
        found={(documents.data?.items ?? []).map(({ document_id: id, file_name }) => ({
          id,
          name: file_name ?? id,
          to: documentAt(id),
        }))}
      />
      <Results
        heading={shell.palette.operations}
        q={q}
        onGo={onGo}
        found={(operations.data?.items ?? []).map(({ operation_id: id, operation, status }) => ({
          id,
          name: shell.palette.operation(kindName(operation), status),
          to: `/runs/${encodeURIComponent(id)}`,
        }))}
      />
    </>
  );
}

function Tenants({ q, onGo }: Pick<ResultsProps, 'q' | 'onGo'>) {
  const tenants = useRead('listTenants', { query: { search: q, limit: MOST } });
  const found = (tenants.data?.items ?? []).map(({ tenant_id }) => ({
    id: tenant_id,
    name: tenant_id,
    to: `/tenants/${encodeURIComponent(tenant_id)}`,
  }));
  return <Results heading={shell.palette.tenants} q={q} found={found} onGo={onGo} />;
}

type Described = Readonly<
  Record<string, { readonly operationId: string; readonly summary: string; readonly tags: readonly string[] }>
>;

/** Every call of the API with its place in the reference; the description is read once. */
const readCalls = async (signal: AbortSignal): Promise<readonly Found[]> => {
  const answer = await fetch('/openapi.json', { signal });
  if (!answer.ok) return [];
  const { paths } = (await answer.json()) as { readonly paths: Readonly<Record<string, Described>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, summary, tags }]) => ({
      id: `${method.toUpperCase()} ${path}`,
      name: summary,
      to: `/docs#/${encodeURIComponent(tags[0] ?? '')}/${operationId}`,
    })),
  );
};

const open = (to: string): void => {
  window.open(to, '_blank', 'noopener');
};

/** The reference of the API, and each of its calls that has the text. */
function Docs({ q, onGo }: Pick<ResultsProps, 'q' | 'onGo'>) {
  const { data = [] } = useQuery({
    queryKey: ['openapi'],
    queryFn: ({ signal }) => readCalls(signal),
    staleTime: Infinity,
  });
  const wanted = q.toLowerCase();
  const found = data.filter(({ id, name, to }) => `${id} ${name} ${to}`.toLowerCase().includes(wanted));
  return <Results heading={shell.palette.docs} q={q} found={found.slice(0, MOST)} onGo={onGo} />;
}

interface CommandsProps {
  readonly isAdmin: boolean;
  readonly close: () => void;
}

function Frame({ close, children }: { close: () => void; children: ReactNode }) {
  return (
    <Command.Dialog
      open
      onOpenChange={close}
      label={shell.search}
      overlayClassName="fixed inset-0 z-40 bg-black/40"
      contentClassName={classes(
        'fixed top-[15vh] left-1/2 z-50 w-[calc(100vw-32px)] max-w-xl',
        '-translate-x-1/2 rounded-xl border border-line bg-raised shadow-xl',
      )}
    >
      {children}
    </Command.Dialog>
  );
}

/** Everything that can be gone to, found or switched by typing. */
export default function Commands({ isAdmin, close }: CommandsProps) {
  const go = useGo();
  const [typed, type] = useState('');
  const q = useDeferredValue(typed.trim());
  const isAsked = q.length >= LEAST;
  const run = (action: () => void) => (): void => {
    close();
    action();
  };
  const leave = (to: string): void => run(() => (to.startsWith('/docs') ? open(to) : go(to)))();
  return (
    <Frame close={close}>
      <Command.Input
        value={typed}
        onValueChange={type}
        placeholder={shell.palette.hint}
        className="w-full border-b border-line bg-transparent px-4 py-3 outline-none"
      />
      <Command.List className="max-h-96 overflow-y-auto p-2">
        <Command.Empty className="p-4 text-center text-soft">{shell.nothingFound}</Command.Empty>
        <Command.Group heading={shell.palette.pages} className={GROUP}>
          {PAGES.filter(({ isOperators }) => isAdmin || !isOperators).map(({ path, name, icon: Icon }) => (
            <Command.Item key={path} value={name} onSelect={() => leave(path)} className={ITEM}>
              <Icon aria-hidden className="size-4 text-soft" />
              {name}
            </Command.Item>
          ))}
        </Command.Group>
        {isAsked && isAdmin && <Tenants q={q} onGo={leave} />}
        {isAsked && <OfTenant q={q} onGo={leave} />}
        {isAsked && <Docs q={q} onGo={leave} />}
        <Command.Group heading={shell.theme.name} className={GROUP}>
          {THEMES.map((theme) => (
            <Command.Item
              key={theme}
              value={`${shell.theme.name} ${shell.theme[theme]}`}
              onSelect={run(() => chooseTheme(theme))}
              className={ITEM}
            >
              {shell.theme[theme]}
            </Command.Item>
          ))}
          <Command.Item value={shell.palette.reference} onSelect={() => leave('/docs')} className={ITEM}>
            {shell.palette.reference}
          </Command.Item>
        </Command.Group>
      </Command.List>
    </Frame>
  );
}
