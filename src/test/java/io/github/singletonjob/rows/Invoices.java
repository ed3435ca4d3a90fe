package io.github.singletonjob.rows;

import io.github.singletonjob.fencing.RowFence;

import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

/**
 * Queries of Spring Data that compare the token, and the same ones that do not.
 */
interface Invoices extends Repository<Invoice, Long> {

	default void charge(long id) {
		RowFence.requireUpdated(chargeIfNotFenced(id));
	}

	@Modifying
	@Query("""
			update versioned Invoice i set i.status = 'CHARGED', i.fence = :#{singletonJob.token}
			where i.id = :id and i.fence <= :#{singletonJob.token}""")
	int chargeIfNotFenced(long id);

	@Modifying
	@Query(nativeQuery = true, value = """
			update invoice set status = 'CHARGED', version = version + 1, fence = :#{singletonJob.token}
			where id = :id and fence <= :#{singletonJob.token}""")
	int chargeNatively(long id);

	@Modifying
	@Query("""
			update versioned Invoice i set i.status = 'STALE', i.fence = :#{singletonJob.token}
			where i.fence <= :#{singletonJob.token}""")
	int updateAll();

	@Modifying
	@Query("""
			update versioned Invoice i set i.status = :status, i.fence = :#{singletonJob.token}
			where i.id = :id and i.fence <= :#{singletonJob.token}""")
	int update(long id, String status);

	@Modifying
	@Query("delete Invoice i where i.id = :id and i.fence <= :#{singletonJob.token}")
	int delete(long id);

	@Modifying
	@Query(nativeQuery = true,
			value = "insert into invoice (id, status, fence) values (:id, 'STALE', :#{singletonJob.token})")
	int insert(long id);

	@Modifying
	@Query("update versioned Invoice i set i.status = 'STALE', i.fence = :#{singletonJob.token}")
	int updateAllUnchecked();

	@Modifying
	@Query("update versioned Invoice i set i.status = :status, i.fence = :#{singletonJob.token} where i.id = :id")
	int updateUnchecked(long id, String status);

	@Modifying
	@Query("delete Invoice i where i.id = :id")
	int deleteUnchecked(long id);

	@Query("select count(i) from Invoice i where i.status = :status")
	long countByStatus(String status);

	@Query(nativeQuery = true, value = "select count(*) from invoice where fence > :#{singletonJob.token}")
	long countWrittenByNewerRuns();

}
