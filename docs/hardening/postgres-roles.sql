-- Least privilege for Quire on PostgreSQL. Run it once as a superuser, connected to Quire's database, before the
-- first start; it may be run again at any time. Then give each role a password (`alter role … password`).
--
--   quire_projector  makes, fills and drops read models: for processes with the role `projector`, the first to start
--   quire_app        reads read models and stores repeated answers: for `api` and `worker`
--   quire_reader     reads the views for finance, and nothing else

do $$
declare
  name text;
begin
  foreach name in array array['quire_projector', 'quire_app', 'quire_reader'] loop
    if not exists (select from pg_roles where rolname = name) then
      execute format('create role %I login', name);
    end if;
    execute format('alter role %I nosuperuser nocreatedb nocreaterole noreplication nobypassrls', name);
  end loop;
  execute format('revoke all on database %I from public', current_database());
  execute format('grant connect on database %I to quire_projector, quire_app, quire_reader', current_database());
  -- A generation of a read model is a schema of its own.
  execute format('grant create on database %I to quire_projector', current_database());
  execute format('alter role quire_reader in database %I set default_transaction_read_only = on', current_database());
  execute format('alter role quire_reader in database %I set statement_timeout = ''5min''', current_database());
end $$;

alter role quire_reader connection limit 10;

revoke create on schema public from public;
create schema if not exists projections authorization quire_projector;
create schema if not exists read authorization quire_projector;
create schema if not exists http_cache authorization quire_projector;

grant usage, create on schema public to quire_projector;
grant usage on schema public, projections, read, http_cache to quire_app;
grant usage on schema read to quire_reader;

-- Views of `read` are created again whenever a generation takes over: these grants cover future views too.
-- They read with the rights of their owner, so other roles need no rights on the tables behind them.
alter default privileges for role quire_projector in schema read grant select on tables to quire_app, quire_reader;
alter default privileges for role quire_projector in schema projections grant select on tables to quire_app;
alter default privileges for role quire_projector in schema http_cache
  grant select, insert, update, delete on tables to quire_app;
-- Earlier releases had a table of their own in `public`, and gave it to the API.
alter default privileges for role quire_projector in schema public
  revoke select, insert, update, delete on tables from quire_app;

-- The same for existing tables.
grant select on all tables in schema read to quire_app, quire_reader;
grant select on all tables in schema projections to quire_app;
grant select, insert, update, delete on all tables in schema http_cache to quire_app;

-- Advisory locks decide which process projects: a reader that took one would stop the projections.
do $$
declare
  locks record;
begin
  for locks in
    select p.oid::regprocedure as signature from pg_proc p
    where p.pronamespace = 'pg_catalog'::regnamespace and p.proname like 'pg\_%advisory%'
  loop
    execute format('revoke execute on function %s from public', locks.signature);
    execute format('grant execute on function %s to quire_projector, quire_app', locks.signature);
  end loop;
end $$;
