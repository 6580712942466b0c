import { postFeature } from '@halyard/contract';
import { type Halyard, startHalyard } from '../../packages/server/testing/halyard.ts';
import { progress } from './rows.ts';

export const featureCount = 100;
export const featureId = (index: number): string => `bench-feature-${index}`;

/** Starts a service with 100 features as teams have them: a few rules, some with conditions. */
export async function startWithFeatures(dataDirectory: string): Promise<Halyard> {
  const halyard = await startHalyard({ HALYARD_DATA_DIR: dataDirectory });
  progress(`Making ${featureCount} features …`);
  for (let index = 0; index < featureCount; index++) {
    await halyard.admin.call(postFeature, {
      body: {
        id: featureId(index),
        valueType: 'string',
        description: `Feature ${index} of the bench`,
        defaultValue: 'control',
        owner: 'admin@localhost',
        rules: [
          {
            type: 'force',
            value: 'beta',
            allEnvironments: true,
            condition: `{"country":{"$in":["DE","FR","X${index}"]},"plan":"enterprise"}`,
          },
          { type: 'rollout', value: 'treatment', coverage: 0.25, hashAttribute: 'id', allEnvironments: true },
        ],
      },
    });
  }
  return halyard;
}
