import type { MarginReportResponse } from '@quire/client';
import { finance as texts } from '../../../texts/finance.ts';
import { negated } from '../../../ui/values/decimal.ts';

/** One figure of the report, its amount as the report's own text. */
export interface Figure {
  readonly id: string;
  readonly name: string;
  readonly amount: string;
  /** Stands for itself; others are added to the figure before. */
  readonly isTotal?: boolean;
}

/** From gross to the realized margin: what is taken away has its sign turned. */
export const stepsOf = ({
  realized_margin: realized,
  unit_margin: unit,
  fx_effect_usd,
}: MarginReportResponse): readonly Figure[] => {
  const { steps } = texts.margin;
  return [
    { id: 'gross', name: steps.gross, amount: realized.gross_usd, isTotal: true },
    { id: 'vat', name: steps.vat, amount: negated(realized.vat_usd) },
    { id: 'fees', name: steps.fees, amount: negated(realized.provider_fees_usd) },
    { id: 'net', name: steps.net, amount: realized.net_revenue_usd, isTotal: true },
    { id: 'refunds', name: steps.refunds, amount: realized.refunds_usd },
    { id: 'cost', name: steps.cost, amount: negated(realized.model_cost_usd) },
    { id: 'unit', name: steps.unit, amount: unit.margin_usd, isTotal: true },
    { id: 'fx', name: steps.fx, amount: fx_effect_usd },
    { id: 'realized', name: steps.realized, amount: realized.margin_usd, isTotal: true },
  ];
};

const GAPS = Object.keys(texts.margin.gaps) as (keyof typeof texts.margin.gaps)[];

/** The parts of the FX effect, and their sum. */
export const gapOf = ({ gap_breakdown, fx_effect_usd }: MarginReportResponse): readonly Figure[] => [
  ...GAPS.map((id) => ({ id, name: texts.margin.gaps[id], amount: gap_breakdown[id] })),
  { id: 'fx', name: texts.margin.fx, amount: fx_effect_usd, isTotal: true },
];
