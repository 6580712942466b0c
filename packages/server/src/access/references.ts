import { sql } from 'kysely';
import type { References } from '../organization/index.ts';

/** Members and keys have roles in projects; those of a deleted project go with it. */
export const roleReferences: References = {
  changesOnProjectDeletion: ({ organization }, project) => ({
    async also(tx) {
      for (const table of ['member', 'api_key']) {
        await sql`
          update ${sql.table(table)}
          set project_roles = (
            select coalesce(json_agg(rule), '[]') from json_array_elements(project_roles) rule where rule->>'project' <> ${project}
          )
          where organization = ${organization}
            and exists (select from json_array_elements(project_roles) rule where rule->>'project' = ${project})
        `.execute(tx);
      }
    },
  }),
};
