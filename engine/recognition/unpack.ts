import { unpackTessdata } from './tessdata.ts';

unpackTessdata();
