// Writes javascript_json.json: what JSON.parse and JSON.stringify of Node.js say about each text.
// Run it in this folder after changing the texts: node javascript_json.mjs
import { writeFileSync } from 'node:fs'

const numbers = `0 -0 -0.0 -0e5 0e0 0.0 1 -1 1.0 3.0 1e3 1E3 1e+3 1.5 -1.5 100e-2 123e-2 0.1e1 1e20 1e21 1e22 1.5e21
123456789012345680000 1234567890123456800000 0.1 0.000001 0.0000015 0.0000001 0.00000012 -1e-7 1e-7 1e-10 5e-324
2.2250738585072014e-308 1.7976931348623157e308 1.7976931348623159e308 1e400 -1e400 1e-400 -1e-400 9007199254740991
9007199254740992 9007199254740993 -9007199254740993 9007199254740995 18446744073709551615 18446744073709551616
123456789012345678901234567890 4294967295 999999999999999900000 0.1234567890123456789 9.95e20 1234567890.125
01 -01 1. .5 +1 1e 1e+ - -- 0x10 1_000 NaN Infinity -Infinity 1.2.3`.split(/\s+/)
numbers.push('9'.repeat(400), '-' + '9'.repeat(400), '1' + '0'.repeat(308), '0.' + '0'.repeat(400) + '1', '1'.repeat(5000))

const strings = ['""', '"a"', '"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\u0000\\u001f\\u007f"', '"\u007f"', '"\\u2028\u2029"', '"\u0085\u00a0\ufeff"',
  '"é日😀"', '"\\ud83d\\ude00"', '"\\uD83D\\uDE00"', '"\\ud83d"', '"\\ude00"', '"\\ud83dx\\ude00"', '"\\ude00\\ud83d"',
  '"\\ud83d\\ud83d\\ude00"', '"\\ud83d\\ude00\\ude00"', '"a\\ud83d"', '"\uffff\ufffe"', '"\\u00e9"', '"\\u0041"', '"-0"', '"1e400"',
  '"1234567890123456789"', '"\\a"', '"\\u12"', '"\\u00zz"', '"\\', '"', '"a', '"\n"', '"\t"', '"\u0001"', "'a'", '"\\x41"', '"a""b"']

const objects = ['{}', '{"a":1}', '{"b":1,"a":2}', '{"a":1,"b":2,"a":3}', '{"a":{"x":1},"a":2}', '{"b":1,"10":2,"9":3,"a":4}',
  '{"1":1,"0":0}', '{"4294967294":1,"4294967295":2,"0":3}', '{"01":1,"1":2,"-1":3,"1.5":4,"0":5}', '{"a":1,"1" : 2}',
  '{"a":1,"\\u0031":2}', '{"a":1,"1\\u0030":2,"9":3}', '{"2":1,"a":2,"2":3,"1":4}', '{"٣":1,"1":2}', '{"__proto__":1,"a":2}',
  '{"constructor":1,"toString":2,"1":3}', '{"":1,"0":2}', '{"\\ud800":1}', '{"a":[{"1":1,"0":0}]}', '{"a":-0,"b":[-0]}', '[{"z":1,"5":{"7":1,"6":2}}]',
  '{"a":1,}', '{,}', '{"a"}', '{"a":}', '{a:1}', '{1:1}', '{"a" 1}', '{"a":1 "b":2}', '{"a":1', '}', '{"\n":1}']

const texts = ['null', 'true', 'false', '[]', '[1,2,[3]]', ' [ 1 , 2 ] ', '\t\r\n1\n', '[[[[]]]]', '[1,]', '[,1]', '[1 2]', '[1', ']', '', ' ',
  'nul', 'True', 'undefined', 'null null', '1 2', '\ufeff1', '\u000b1', '\u000c1', '\u00a01', '\u20281', '// c\n1', '[1]x', '\u0000', '1\u0000',
  ...numbers, ...numbers.slice(0, 40).map((n) => `{"n":[${n}]}`), ...strings, ...objects]

const cases = texts.map((text) => {
  try { return { text, stringify: JSON.stringify(JSON.parse(text)) } } catch { return { text, stringify: null } }
})
const ascii = (text) => text.replace(/[\u007f-\uffff]/g, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'))
writeFileSync('javascript_json.json', '[\n' + cases.map((c) => ascii(JSON.stringify(c))).join(',\n') + '\n]\n')
console.log(cases.length)
