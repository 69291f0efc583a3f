import { Tabs as Radix } from 'radix-ui';
import { useLayoutEffect, useRef, type ReactNode, type RefObject } from 'react';

export interface Tab {
  readonly id: string;
  readonly name: ReactNode;
  readonly content: ReactNode;
}

interface TabsProps {
  /** What the tabs choose between, for screen readers. */
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly value?: string;
  readonly onChange?: (id: string) => void;
}

const TAB =
  '-mb-px border-b-2 border-transparent px-3 py-1.5 font-medium whitespace-nowrap text-soft hover:text-ink ' +
  // the list scrolls sideways, so that it would cut off what stands out
  'rounded-t focus-visible:-outline-offset-2 ' +
  'data-[state=active]:border-accent data-[state=active]:text-ink';

/** Where the names do not fit beside each other, the chosen one is scrolled to. */
const useSeenTab = (value: string | undefined): RefObject<HTMLDivElement | null> => {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const chosen = list.current?.querySelector<HTMLElement>('[data-state=active]');
    if (list.current === null || chosen === null || chosen === undefined) return;
    const { left, right } = list.current.getBoundingClientRect();
    const at = chosen.getBoundingClientRect();
    if (at.right > right) list.current.scrollLeft += at.right - right;
    if (at.left < left) list.current.scrollLeft -= left - at.left;
  }, [value]);
  return list;
};

/** Parts of which one is shown; only that one is rendered. */
export function Tabs({ label, tabs, value, onChange }: TabsProps) {
  const list = useSeenTab(value);
  const chosen = value === undefined ? { defaultValue: tabs[0]?.id ?? '' } : { value };
  return (
    <Radix.Root
      {...chosen}
      {...(onChange === undefined ? {} : { onValueChange: onChange })}
      className="min-w-0"
    >
      <Radix.List ref={list} aria-label={label} className="mb-4 flex overflow-x-auto border-b border-line">
        {tabs.map(({ id, name }) => (
          <Radix.Trigger key={id} value={id} className={TAB}>
            {name}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map(({ id, content }) => (
        <Radix.Content key={id} value={id} className="min-w-0">
          {content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}
