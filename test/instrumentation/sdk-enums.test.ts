import * as sdk from '@opentelemetry/sdk-metrics';
import { expect, it } from 'vitest';
import * as own from '../../src/instrumentation/sdk-enums.js';

/** Enums of numbers have their names by number as well. */
const namesOf = (members: object) => Object.entries(members).filter(([name]) => !/^\d+$/.test(name));

it.each(Object.keys(own) as (keyof typeof own)[])("%s has the values of the SDK's enum", (name) => {
  expect(namesOf(own[name]).sort()).toEqual(namesOf(sdk[name]).sort());
  expect(namesOf(own[name]).length).toBeGreaterThan(1);
});
