import { describe, expect, it } from 'vitest';
import { readJson } from '../../src/settings/json-text.js';
import { lineAndColumn } from '../../src/settings/located.js';

const RIGHT = [
  '{}',
  ' [ ] ',
  '{"a":{"b":[1,-0,2.5e-3,1E+9,null,true,false,""]},"c":[]}',
  '{\t"a"\r\n:\t[\n{"b":1}]}',
  String.raw`{"\"":"\\\/\b\f\n\r\t\u0041\ud83d\ude00"}`,
  '{"__proto__":{"x":1},"constructor":1}',
  '"text"',
  '1e400',
  `{"${'long'.repeat(500)}":1}`,
];

const WRONG: [text: string, place: string, message: RegExp][] = [
  ['', '1:1', /the file ends here; expected a value/],
  ['{"a":1,}', '1:8', /expected a key; a comma before a closing bracket is not allowed/],
  ['{\n  "a": [1,\n  2,\n  ]}', '4:3', /expected a value; a comma before a closing bracket is not allowed/],
  ['{"a":1 // why\n}', '1:8', /expected a comma or }; comments are allowed in YAML only/],
  ['/* why */ {}', '1:1', /comments are allowed in YAML only/],
  ["{'a':1}", '1:2', /expected a key, in double quotes/],
  ['{a:1}', '1:2', /expected a key, in double quotes/],
  ['{"a" 1}', '1:6', /expected a colon/],
  ['{"a":1 "b":2}', '1:8', /expected a comma or }/],
  ['{"a":1', '1:7', /the file ends here; expected a comma or }/],
  ['{"a":"x\n"}', '1:6', /expected a value/],
  ['{"a":01}', '1:7', /expected a comma or }/],
  ['{"a":NaN}', '1:6', /expected a value/],
  ['{"a":+1}', '1:6', /expected a value/],
  ['{} {}', '1:4', /expected the end of the file/],
  ['{"a":1,\n "b":{},\n "a":2}', '3:2', /the object has the key "a" twice/],
  [`${'['.repeat(200)}`, '1:102', /nested deeper than 100 levels/],
];

describe('JSON', () => {
  it.each(RIGHT)('%j has the value of JSON.parse()', (text) => {
    const { mistakes, value } = readJson(text);
    expect(mistakes).toEqual([]);
    const parsed: unknown = JSON.parse(text);
    expect(value()).toEqual(parsed);
    expect(JSON.stringify(value())).toBe(JSON.stringify(parsed));
  });

  it.each(WRONG)('%j is refused at %s', (text, place, message) => {
    const { mistakes } = readJson(text);
    expect(mistakes[0]?.message).toMatch(message);
    expect(lineAndColumn(text, mistakes[0]!.offset)).toBe(place);
  });

  it('has the offsets of keys and list elements', () => {
    const text = '{\n  "a": [1, {"b": 2}],\n  "c": 3\n}';
    const { offsetOf } = readJson(text);
    const place = (...path: (string | number)[]): string => lineAndColumn(text, offsetOf(path));
    expect([place('a'), place('a', 1), place('a', 1, 'b'), place('c')]).toEqual(['2:3', '2:12', '2:13', '3:3']);
    expect([place(), place('x'), place('a', 7), place('a', 1, 'none')]).toEqual(['1:1', '1:1', '2:3', '2:12']);
  });
});
