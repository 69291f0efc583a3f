import { unpackTessdata } from './tessdata.js';

unpackTessdata();
