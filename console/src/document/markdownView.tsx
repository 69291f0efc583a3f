import { lexer, type Token, type Tokens } from 'marked';
import { useMemo, type ReactNode } from 'react';
import { Cited } from './cited.tsx';
import type { Wanted } from './preview.ts';

const isWeb = (address: string): boolean => /^https?:\/\//i.test(address);

/** A link says where it leads, since a document's words may say otherwise. */
function Link({ href, children }: { href: string; children: ReactNode }) {
  if (!isWeb(href))
    return (
      <span>
        {children} <code>({href})</code>
      </span>
    );
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" className="text-accent underline">
      {children} <span className="text-soft">({href})</span>
    </a>
  );
}

const HEADINGS = ['text-lg', 'text-base', 'text-base', 'text-sm', 'text-sm', 'text-sm'] as const;

function List({ token }: { token: Tokens.List }) {
  const Shown = token.ordered ? 'ol' : 'ul';
  return (
    <Shown className={token.ordered ? 'list-decimal pl-6' : 'list-disc pl-6'}>
      {token.items.map((item, at) => (
        <li key={at}>{drawn(item.tokens)}</li>
      ))}
    </Shown>
  );
}

function Table({ token }: { token: Tokens.Table }) {
  const cell = 'border border-line px-2 py-1 text-left align-top';
  return (
    <div className="overflow-x-auto">
      <table className="border-collapse">
        <thead>
          <tr>
            {token.header.map((one, at) => (
              <th key={at} className={`${cell} bg-sunken font-medium`}>
                {drawn(one.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, line) => (
            <tr key={line}>
              {row.map((one, at) => (
                <td key={at} className={cell}>
                  {drawn(one.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Block({ token }: { token: Token }) {
  switch (token.type) {
    case 'heading':
      return (
        <p className={`font-semibold ${HEADINGS[(token as Tokens.Heading).depth - 1] ?? ''}`}>
          {drawn(token.tokens)}
        </p>
      );
    case 'paragraph':
      return <p>{drawn(token.tokens)}</p>;
    case 'list':
      return <List token={token as Tokens.List} />;
    case 'table':
      return <Table token={token as Tokens.Table} />;
    case 'code':
      return <pre className="overflow-x-auto rounded bg-sunken p-2">{(token as Tokens.Code).text}</pre>;
    case 'blockquote':
      return <blockquote className="border-l-2 border-line pl-3">{drawn(token.tokens)}</blockquote>;
    case 'hr':
      return <hr className="border-line" />;
    case 'space':
      return null;
    default:
      return <Inline token={token} />;
  }
}

const shownText = (token: Token): string => {
  // marks between pages are the service's own; other HTML is words of the document
  if (token.type === 'html' && /^<!-- page \d+ -->\s*$/.test(token.raw)) return '';
  return token.type === 'html' ? token.raw : (token as Tokens.Text).text;
};

function Inline({ token }: { token: Token }) {
  switch (token.type) {
    case 'strong':
      return <strong>{drawn(token.tokens)}</strong>;
    case 'em':
      return <em>{drawn(token.tokens)}</em>;
    case 'del':
      return <del>{drawn(token.tokens)}</del>;
    case 'codespan':
      return <code className="rounded bg-sunken px-1">{(token as Tokens.Codespan).text}</code>;
    case 'link':
      return <Link href={(token as Tokens.Link).href}>{drawn(token.tokens)}</Link>;
    case 'image':
      return <span className="text-soft">[{(token as Tokens.Image).text}]</span>;
    case 'br':
      return <br />;
    default: {
      const inner = (token as Tokens.Text).tokens;
      return inner === undefined || token.type === 'html' ? shownText(token) : drawn(inner);
    }
  }
}

const drawn = (tokens: readonly Token[] | undefined): ReactNode =>
  tokens?.map((token, at) => <Block key={at} token={token} />);

/** Quotes within quotes without end are more than a parser takes: then the source is shown. */
const tokensOf = (markdown: string): readonly Token[] => {
  try {
    return lexer(markdown);
  } catch {
    return [{ type: 'code', raw: markdown, text: markdown }];
  }
};

/** Markdown of a document as elements: its HTML is shown as text, its pictures by their words, nothing is loaded. */
export function MarkdownView({ markdown }: { markdown: string }) {
  return <div className="flex flex-col gap-3 break-words">{drawn(tokensOf(markdown))}</div>;
}

/** Markdown as it reads, with the words of the chosen value marked. */
export function MarkedMarkdown({ markdown, wanted }: { markdown: string; wanted: Wanted | undefined }) {
  const view = useMemo(() => <MarkdownView markdown={markdown} />, [markdown]);
  return (
    <Cited text={markdown} wanted={wanted}>
      {view}
    </Cited>
  );
}
