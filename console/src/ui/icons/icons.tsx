import type { SVGProps } from 'react';
import shapes from './shapes.json';

/*
 * The pictures of Lucide (ISC, see licence.txt beside) that the console uses, and no others: the package has 2,000 of
 * them, in 51 MB. Another one is copied from its site into `shapes.json`, and named below.
 */

type Name = keyof typeof shapes;

/** A picture of 24 by 24, drawn in the colour of the text; CSS says its size. */
export type Icon = (props: SVGProps<SVGSVGElement>) => React.JSX.Element;

const icon = (name: Name): Icon =>
  function Icon(props) {
    return (
      <svg
        xmlns="http://www.w3.org/2000/svg"
        width={24}
        height={24}
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth={2}
        strokeLinecap="round"
        strokeLinejoin="round"
        {...props}
      >
        {shapes[name].map(({ shape: Shape, ...places }, index) => (
          <Shape key={index} {...places} />
        ))}
      </svg>
    );
  };

export const Activity = icon('Activity');
export const ArrowDown = icon('ArrowDown');
export const ArrowRight = icon('ArrowRight');
export const ArrowUp = icon('ArrowUp');
export const BookOpenCheck = icon('BookOpenCheck');
export const BookText = icon('BookText');
export const ChartNoAxesColumn = icon('ChartNoAxesColumn');
export const Check = icon('Check');
export const ChevronDown = icon('ChevronDown');
export const CircleAlert = icon('CircleAlert');
export const CircleCheck = icon('CircleCheck');
export const CircleDashed = icon('CircleDashed');
export const CircleHelp = icon('CircleHelp');
export const Coins = icon('Coins');
export const Copy = icon('Copy');
export const Download = icon('Download');
export const FileCog = icon('FileCog');
export const FileText = icon('FileText');
export const Files = icon('Files');
export const FileUp = icon('FileUp');
export const Gauge = icon('Gauge');
export const GripVertical = icon('GripVertical');
export const Inbox = icon('Inbox');
export const KeyRound = icon('KeyRound');
export const Landmark = icon('Landmark');
export const LoaderCircle = icon('LoaderCircle');
export const LogOut = icon('LogOut');
export const Menu = icon('Menu');
export const Minus = icon('Minus');
export const Monitor = icon('Monitor');
export const Moon = icon('Moon');
export const OctagonX = icon('OctagonX');
export const PanelLeft = icon('PanelLeft');
export const Pause = icon('Pause');
export const Pencil = icon('Pencil');
export const Play = icon('Play');
export const Plus = icon('Plus');
export const ReceiptText = icon('ReceiptText');
export const RefreshCw = icon('RefreshCw');
export const Search = icon('Search');
export const Send = icon('Send');
export const ShieldAlert = icon('ShieldAlert');
export const ShieldCheck = icon('ShieldCheck');
export const Sun = icon('Sun');
export const Table = icon('Table');
export const TriangleAlert = icon('TriangleAlert');
export const Users = icon('Users');
export const Workflow = icon('Workflow');
export const X = icon('X');
