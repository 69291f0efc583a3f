import { playground } from '../../../texts/playground.ts';
import { Tabs } from '../../../ui/tabs.tsx';
import { Copy } from '../../../ui/values/copy.tsx';
import { requestCode, type Language } from './requestCode.ts';

const { results: texts } = playground;

const LANGUAGES: readonly (readonly [Language, string])[] = [
  ['curl', 'curl'],
  ['typescript', 'TypeScript'],
  ['python', 'Python'],
];

/** The same request as a program sends it. */
export function CodeTab({ name, schema }: { name: string; schema: string }) {
  const given = { url: window.location.origin, name, schema };
  return (
    <Tabs
      label={texts.languages}
      tabs={LANGUAGES.map(([id, title]) => ({
        id,
        name: title,
        content: (
          <div className="relative">
            <div className="absolute top-2 right-2">
              <Copy name={texts.copyCode} text={requestCode(id, given)} />
            </div>
            <pre
              tabIndex={0}
              role="region"
              aria-label={title}
              className="max-h-[60vh] overflow-auto rounded bg-sunken p-3 font-mono text-[13px]"
            >
              {requestCode(id, given)}
            </pre>
          </div>
        ),
      }))}
    />
  );
}
