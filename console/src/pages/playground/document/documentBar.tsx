import { Minus, PanelLeft, Plus } from '../../../ui/icons/icons.tsx';
import { playground as texts } from '../../../texts/playground.ts';
import { Button } from '../../../ui/button.tsx';
import { Select } from '../../../ui/form/select.tsx';

interface DocumentBarProps {
  readonly zoom: number;
  readonly onZoom: (zoom: number) => void;
  readonly pages: number;
  readonly onGo: (page: number) => void;
  readonly hasStrip: boolean;
  readonly onStrip: (isShown: boolean) => void;
}

/** Shows the pages in small, makes the page smaller or larger, goes to one. */
export function DocumentBar({ zoom, onZoom, pages, onGo, hasStrip, onStrip }: DocumentBarProps) {
  return (
    <div className="flex items-center gap-1">
      <Button
        size="icon"
        look="quiet"
        aria-label={texts.strip}
        aria-pressed={hasStrip}
        disabled={pages === 0}
        onClick={() => onStrip(!hasStrip)}
      >
        <PanelLeft aria-hidden className="size-4" />
      </Button>
      <Button
        size="icon"
        look="quiet"
        aria-label={texts.smaller}
        onClick={() => onZoom(Math.max(0.5, zoom - 0.25))}
      >
        <Minus aria-hidden className="size-4" />
      </Button>
      <span className="w-12 text-center text-soft">{Math.round(zoom * 100)} %</span>
      <Button
        size="icon"
        look="quiet"
        aria-label={texts.larger}
        onClick={() => onZoom(Math.min(3, zoom + 0.25))}
      >
        <Plus aria-hidden className="size-4" />
      </Button>
      {pages > 1 && (
        <div className="w-32">
          <Select
            label={texts.goToPage}
            placeholder={texts.goToPage}
            value=""
            onChange={(page) => onGo(Number(page))}
            choices={Array.from({ length: pages }, (_, at) => ({
              value: String(at + 1),
              name: texts.page(at + 1),
            }))}
          />
        </div>
      )}
    </div>
  );
}
